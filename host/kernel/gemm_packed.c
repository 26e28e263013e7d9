/* SPDX-License-Identifier: MIT */
/* GEMM engine `packed` for CPU devices: register tiles over panels of B. */
#include "kernel/gemm_common.h"

/* Tile sizes by vector width: ROWS x VECTORS sums, VECTORS of B and one broadcast have to fit the register file (32 registers beside
 * AVX-512, 16 elsewhere). cost[v - 1] is the time of one panel of v vectors and one k, in tenths of a cycle per 8 rows: narrow panels are
 * bound by loads. */
typedef struct tile_shape {
    int max_rows, max_vectors;
    int cost[3];
} tile_shape;

enum { ROWS, VECTORS, SUPER_ROWS }; /* places in clf_tile; SUPER_ROWS row tiles pass over a panel before the next one */

static const clf_tile_parameter parameters[] = {
    [ROWS] = {"rows", {1, 2, 3, 4, 5, 6, 7, 8}},
    [VECTORS] = {"vectors", {1, 2, 3}},
    [SUPER_ROWS] = {"super_rows", {4, 8, 16, 32, 64}},
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
    const int rows = tile->value[ROWS] ? tile->value[ROWS] : shape.max_rows;
    const int vectors = tile->value[VECTORS] ? tile->value[VECTORS] : shape.max_vectors;
    return vectors * (rows + 1) + 1 <= clfi_gemm_registers(context);
}

static clf_tile standard(const clf_context *context, const clf_tile *tile)
{
    clf_tile all = *tile;
    if (!all.value[ROWS])
        all.value[ROWS] = shape_of(context).max_rows;
    if (!all.value[SUPER_ROWS])
        all.value[SUPER_ROWS] = 16;
    return all;
}

const clf_tiling clfi_gemm_packed_tiling = {parameters, COUNT(parameters), fits, standard};

int64_t clfi_gemm_panel(const clf_context *context, const clf_tile *tile, int64_t n)
{
    const tile_shape shape = shape_of(context);
    const int64_t width = context->device.caps.vector_width;
    int64_t best_panel = width, best_cost = INT64_MAX;
    if (tile->value[VECTORS])
        return tile->value[VECTORS] * width;
    for (int v = shape.max_vectors; v >= 1; v--) {
        const int64_t panel = v * width, panels = (n + panel - 1) / panel;
        if (panels * shape.cost[v - 1] < best_cost) {
            best_cost = panels * shape.cost[v - 1];
            best_panel = panel;
        }
    }
    return best_panel;
}

/* Whole vectors of columns lie together in the result and the residual. */
static bool is_c_vector(const clf_gemm_args *args, int width)
{
    return args->c.column_stride == 1 && args->column_block % width == 0 && (!args->residual.buffer || args->residual.column_stride == 1);
}

/* Batches interleaved element by element (heads innermost, as in "ibhd,jbhd->ijbh"): batches that share lines of c should follow one
 * another. */
static bool is_batch_inner(const clf_gemm_args *args)
{
    const int last = args->batch_rank - 1;
    return last >= 0 && args->c.batch_stride[last] < args->c.column_stride && args->c.batch_stride[last] < args->c.row_stride;
}

bool clfi_gemm_packed_supports(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    return !context->device.caps.slow_compiler && (!args->weight || args->weight->form == CLFI_GEMM_PANELS);
}

static clf_status run(clf_context *context, const clf_gemm_args *args)
{
    const int width = context->device.caps.vector_width;
    const clf_tile tile = standard(context, &args->tile);
    const int max_rows = tile.value[ROWS];
    const clf_gemm_weight *weight = args->weight;
    const int64_t panel = weight ? weight->panel : clfi_gemm_panel(context, &tile, args->n);
    const int64_t row_tiles_at_most = (args->m + max_rows - 1) / max_rows;
    const int64_t rows = (args->m + row_tiles_at_most - 1) / row_tiles_at_most;
    const bool batch_inner = is_batch_inner(args);

    clf_gemm_operand a = args->a;
    if (a.dtype != CLF_F32 || a.column_stride != 1)
        CLF_TRY(clfi_gemm_pack_dense(context, args, &args->a, args->m, args->k, &a));
    clf_gemm_operand b = {0};
    if (weight) {
        b.buffer = weight->buffer;
        b.dtype = weight->dtype;
        b.offset = weight->offset;
    } else {
        CLF_TRY(clfi_gemm_pack_b(context, args, panel, &b));
    }

    clf_kernel_spec spec = clfi_kernel_spec("gemm_packed.cl", "gemm_packed");
    clfi_gemm_spec_result(&spec, args, width);
    clfi_spec_dtype(&spec, "B", b.dtype);
    clfi_spec_int(&spec, "ROWS", rows);
    clfi_spec_int(&spec, "VECTORS", panel / width);
    clfi_spec_int(&spec, "SUPER_ROWS", tile.value[SUPER_ROWS]);
    clfi_spec_int(&spec, "IS_C_VECTOR", is_c_vector(args, width));
    clfi_spec_int(&spec, "IS_BATCH_INNER", batch_inner);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_arg_buffer(&launch, a.buffer);
    clfi_arg_long(&launch, a.offset);
    clfi_arg_long(&launch, a.row_stride);
    clfi_gemm_arg_batch_stride(&launch, args, a.batch_stride);
    clfi_arg_buffer(&launch, b.buffer);
    clfi_arg_long(&launch, b.offset);
    clfi_gemm_arg_batch_stride(&launch, args, b.batch_stride);
    clfi_gemm_arg_result(&launch, args);
    const size_t tiles = (size_t)((args->m + rows - 1) / rows) * (size_t)((args->n + panel - 1) / panel);
    const size_t batches = (size_t)clfi_gemm_batch_count(args);
    return batch_inner ? clfi_launch_2d(&launch, batches, tiles, 1, 1) : clfi_launch_2d(&launch, tiles, batches, 1, 1);
}

clf_status clfi_gemm_packed_run(clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = run(context, args);
    clfi_arena_release(context, mark);
    return st;
}
