/* SPDX-License-Identifier: MIT */
/* Panels of B, and the register tiles over them. */
#include "kernel/gemm_panel.h"

/* ROWS x VECTORS sums, VECTORS of B and one broadcast have to fit the register file: 32 registers beside AVX-512, 16 elsewhere. Of the
 * tiles that fit, 4 x 3 and 8 x 3 load least for each multiply-add. With 4 rows, few rows of the last tile are computed twice. */
enum { MOST_ROWS = 8, NARROW_ROWS = 4, MOST_VECTORS = 3 };

/* The time of one panel of v vectors and one k at [v - 1], in tenths of a cycle per 8 rows: narrow panels are bound by loads. */
static const int cost[MOST_VECTORS] = {50, 82, 120};

static const clf_tile_parameter parameters[] = {
    [CLFI_PANEL_ROWS] = {"rows", {1, 2, 3, 4, 5, 6, 7, 8}},
    [CLFI_PANEL_VECTORS] = {"vectors", {1, 2, 3}},
    [CLFI_PANEL_SUPER_ROWS] = {"super_rows", {4, 8, 16, 32, 64}},
};

static bool is_wide(const clf_context *context)
{
    return context->device.caps.vector_width == 16;
}

static int usual_rows(const clf_context *context)
{
    return is_wide(context) ? MOST_ROWS : NARROW_ROWS;
}

int clfi_gemm_registers(const clf_context *context)
{
    return is_wide(context) ? 32 : 16;
}

int clfi_gemm_panel_rows(const clf_context *context, int vectors)
{
    const int rows = (clfi_gemm_registers(context) - 1) / vectors - 1;
    return rows < MOST_ROWS ? rows : MOST_ROWS;
}

static int rows_of(const clf_context *context, const clf_tile *tile)
{
    return tile->value[CLFI_PANEL_ROWS] ? tile->value[CLFI_PANEL_ROWS] : usual_rows(context);
}

/* Whether the tile's rows fit into registers. A tile without a number of vectors gets as many from clfi_gemm_panel as fit. */
static bool fits(const clf_context *context, const clf_tile *tile)
{
    const int vectors = tile->value[CLFI_PANEL_VECTORS] ? tile->value[CLFI_PANEL_VECTORS] : 1;
    return rows_of(context, tile) <= clfi_gemm_panel_rows(context, vectors);
}

clf_tile clfi_gemm_panel_tile(const clf_context *context, const clf_tile *tile)
{
    clf_tile all = *tile;
    all.value[CLFI_PANEL_ROWS] = rows_of(context, tile);
    if (!all.value[CLFI_PANEL_SUPER_ROWS])
        all.value[CLFI_PANEL_SUPER_ROWS] = 16;
    return all;
}

const clf_tiling clfi_gemm_packed_tiling = {parameters, COUNT(parameters), fits, clfi_gemm_panel_tile};

int64_t clfi_gemm_panel(const clf_context *context, const clf_tile *tile, int64_t n)
{
    const int64_t width = context->device.caps.vector_width;
    int64_t best_panel = width, best_cost = INT64_MAX;
    if (tile->value[CLFI_PANEL_VECTORS])
        return tile->value[CLFI_PANEL_VECTORS] * width;
    for (int v = MOST_VECTORS; v >= 1; v--) {
        const int64_t panel = v * width, panels = (n + panel - 1) / panel;
        if (rows_of(context, tile) <= clfi_gemm_panel_rows(context, v) && panels * cost[v - 1] < best_cost) {
            best_cost = panels * cost[v - 1];
            best_panel = panel;
        }
    }
    return best_panel;
}
