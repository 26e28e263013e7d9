/* SPDX-License-Identifier: MIT */
/* Panels of B, and the register tiles over them. */
#include "kernel/gemm_panel.h"

/* Tile sizes by vector width: ROWS x VECTORS sums, VECTORS of B and one broadcast have to fit the register file (32 registers beside
 * AVX-512, 16 elsewhere). cost[v - 1] is the time of one panel of v vectors and one k, in tenths of a cycle per 8 rows: narrow panels are
 * bound by loads. */
typedef struct tile_shape {
    int max_rows, max_vectors;
    int cost[3];
} tile_shape;

static const clf_tile_parameter parameters[] = {
    [CLFI_PANEL_ROWS] = {"rows", {1, 2, 3, 4, 5, 6, 7, 8}},
    [CLFI_PANEL_VECTORS] = {"vectors", {1, 2, 3}},
    [CLFI_PANEL_SUPER_ROWS] = {"super_rows", {4, 8, 16, 32, 64}},
};

static tile_shape shape_of(const clf_context *context)
{
    return context->device.caps.vector_width == 16 ? (tile_shape){8, 3, {50, 82, 120}} : (tile_shape){6, 2, {50, 82, 0}};
}

int clfi_gemm_registers(const clf_context *context)
{
    return context->device.caps.vector_width == 16 ? 32 : 16;
}

/* The widest panel for the case counts where there is no choice of vectors. */
static bool fits(const clf_context *context, const clf_tile *tile)
{
    const tile_shape shape = shape_of(context);
    const int rows = tile->value[CLFI_PANEL_ROWS] ? tile->value[CLFI_PANEL_ROWS] : shape.max_rows;
    const int vectors = tile->value[CLFI_PANEL_VECTORS] ? tile->value[CLFI_PANEL_VECTORS] : shape.max_vectors;
    return vectors * (rows + 1) + 1 <= clfi_gemm_registers(context);
}

clf_tile clfi_gemm_panel_tile(const clf_context *context, const clf_tile *tile)
{
    clf_tile all = *tile;
    if (!all.value[CLFI_PANEL_ROWS])
        all.value[CLFI_PANEL_ROWS] = shape_of(context).max_rows;
    if (!all.value[CLFI_PANEL_SUPER_ROWS])
        all.value[CLFI_PANEL_SUPER_ROWS] = 16;
    return all;
}

const clf_tiling clfi_gemm_packed_tiling = {parameters, COUNT(parameters), fits, clfi_gemm_panel_tile};

int64_t clfi_gemm_panel(const clf_context *context, const clf_tile *tile, int64_t n)
{
    const tile_shape shape = shape_of(context);
    const int64_t width = context->device.caps.vector_width;
    int64_t best_panel = width, best_cost = INT64_MAX;
    if (tile->value[CLFI_PANEL_VECTORS])
        return tile->value[CLFI_PANEL_VECTORS] * width;
    for (int v = shape.max_vectors; v >= 1; v--) {
        const int64_t panel = v * width, panels = (n + panel - 1) / panel;
        if (panels * shape.cost[v - 1] < best_cost) {
            best_cost = panels * shape.cost[v - 1];
            best_panel = panel;
        }
    }
    return best_panel;
}
