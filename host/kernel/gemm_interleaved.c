/* SPDX-License-Identifier: MIT */
/* GEMM engine `interleaved`: batches are the lanes of vectors. For products whose result or factors have a batch dimension innermost in
 * memory, where engines that compute one matrix at a time would touch a line of memory for every element. */
#include "kernel/gemm_common.h"
#include "kernel/loops.h"

enum { BLOCK_K = 32, BLOCK_COLUMNS = 32 };   /* as in gemm_interleaved.cl */
enum { ITEMS_PER_UNIT = 4, MOST_TILES = 8 }; /* of work-items and their row tiles */
enum { ITEM_BYTES = 1 << 14 };               /* interleaved by one work-item */
enum { ROWS, COLUMNS, CACHED_KIB }; /* places in clf_gemm_tile: vectors of a register tile, and how much of B is to stay in a cache */

static const clf_gemm_tile_parameter parameters[] = {
    [ROWS] = {"rows", {1, 2, 3, 4, 5, 6}},
    [COLUMNS] = {"columns", {1, 2, 3, 4}},
    [CACHED_KIB] = {"cached_kib", {64, 128, 256, 512, 1024, 2048}},
};

/* Half of a usual second-level cache for B. */
static clf_gemm_tile standard(const clf_context *context, const clf_gemm_tile *tile)
{
    static const int usual[] = {[ROWS] = 6, [COLUMNS] = 4, [CACHED_KIB] = 512};
    clf_gemm_tile all = *tile;
    (void)context;
    for (size_t i = 0; i < COUNT(usual); i++)
        if (!all.value[i])
            all.value[i] = usual[i];
    return all;
}

/* Narrow registers are fewer: there the default spills into the first-level cache. */
static bool fits(const clf_context *context, const clf_gemm_tile *tile)
{
    const clf_gemm_tile all = standard(context, tile);
    const int limit = clfi_gemm_registers(context) > 29 ? clfi_gemm_registers(context) : 29;
    return all.value[COLUMNS] * (all.value[ROWS] + 1) + 1 <= limit;
}

const clf_gemm_tiling clfi_gemm_interleaved_tiling = {parameters, COUNT(parameters), fits, standard};

static int lane_width(const clf_context *context)
{
    const int width = context->device.caps.vector_width;
    return context->device.caps.is_cpu && (width == 8 || width == 16) ? width : 4;
}

/* The batch dimension that lies side by side in an operand whose matrix does not; -1: none. */
static int lane_batch(const clf_gemm_args *args)
{
    const clf_gemm_operand *const operands[] = {&args->c, &args->a, &args->b};
    for (size_t o = 0; o < COUNT(operands); o++)
        for (int i = 0; i < args->batch_rank; i++)
            if (operands[o]->batch_stride[i] == 1 && operands[o]->row_stride != 1 && operands[o]->column_stride != 1)
                return i;
    return -1;
}

bool clfi_gemm_has_lanes(const clf_gemm_args *args)
{
    return lane_batch(args) >= 0;
}

/* Loop iterations of a work-item: a tile of rows times all of B, with the default tile. */
static int64_t tile_iterations(const clf_context *context, const clf_gemm_args *args)
{
    const int64_t columns = 4, results = 6 * columns, tiles = BLOCK_COLUMNS / columns;
    const int64_t blocks = (args->k + BLOCK_K - 1) / BLOCK_K, pieces = (args->n + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    return pieces * tiles * (blocks * (BLOCK_K + BLOCK_K / tiles + 1) + results * (lane_width(context) + 1));
}

/* The same of one line of an operand that is interleaved. */
static int64_t line_iterations(const clf_context *context, int64_t length)
{
    return 3 * lane_width(context) * length;
}

static int64_t longest_line(const clf_gemm_args *args)
{
    const int64_t longest = args->m > args->n ? args->m : args->n;
    return longest > args->k ? longest : args->k;
}

bool clfi_gemm_interleaved_supports(const clf_context *context, const clf_gemm_args *args)
{
    const int lane = lane_batch(args);
    if (!clfi_loops_fit(context, tile_iterations(context, args)) || !clfi_loops_fit(context, line_iterations(context, longest_line(args))))
        return false;
    return lane >= 0 && args->a.batch_stride[lane] > 0 && args->b.batch_stride[lane] > 0 && !args->weight && !args->bias.buffer &&
           !args->residual.buffer && args->column_block == 0 && args->activation == CLF_ACTIVATION_NONE;
}

/* Half of the lanes at least do work that another engine would do in whole vectors. */
bool clfi_gemm_interleaved_suits(const clf_context *context, const clf_gemm_args *args)
{
    return context->device.caps.is_cpu && args->batch[lane_batch(args)] >= lane_width(context) / 2;
}

/* The batch dimensions other than the lanes; one operand as the kernels take it. */
typedef struct outer_batch {
    int rank, lane;
    int64_t size[CLFI_GEMM_MAX_BATCH];
    int64_t count; /* their product */
    int64_t lanes, blocks; /* of vectors: with fold 2 every batch has two lanes */
    int width;
    int fold; /* rows of the matrix side by side in a vector: 2 where whole vectors of batches would leave half of one empty */
} outer_batch;

/* Vectors of one operand: strides of rows (of A) or columns (of B), of k, of lane blocks and of the outer batches. */
typedef struct lane_operand {
    clf_buffer *buffer;
    int64_t offset, row_stride, k_stride, block_stride;
    int64_t batch_stride[CLFI_GEMM_MAX_BATCH];
    bool is_in_place;
} lane_operand;

/* The last vector of lanes would be half empty, and vectors are few enough for that to count. */
static bool leaves_a_half(const outer_batch *o)
{
    const int half = o->width / 2;
    return o->lanes % half == 0 && o->lanes / half % 2 == 1 && o->lanes < 4 * o->width;
}

static outer_batch split_batch(const clf_context *context, const clf_gemm_args *args)
{
    outer_batch o = {.lane = lane_batch(args), .count = 1, .width = lane_width(context), .fold = 1};
    for (int i = 0; i < args->batch_rank; i++)
        if (i != o.lane) {
            o.size[o.rank++] = args->batch[i];
            o.count *= args->batch[i];
        }
    o.lanes = args->batch[o.lane];
    if (leaves_a_half(&o) && args->m > 1) {
        o.fold = 2;
        o.lanes *= 2;
    }
    o.blocks = (o.lanes + o.width - 1) / o.width;
    return o;
}

static void outer_strides(const outer_batch *o, const int64_t *from, int64_t *out)
{
    for (int i = 0, rank = 0; rank < o->rank; i++)
        if (i != o->lane)
            out[rank++] = from[i];
}

static void arg_outer_size(clf_launch *launch, const outer_batch *o)
{
    clf_gemm_args args = {.batch_rank = o->rank};
    for (int i = 0; i < o->rank; i++)
        args.batch[i] = o->size[i];
    clfi_gemm_arg_batch_size(launch, &args);
}

static void arg_outer_stride(clf_launch *launch, const outer_batch *o, const int64_t *stride)
{
    const clf_gemm_args args = {.batch_rank = o->rank};
    clfi_gemm_arg_batch_stride(launch, &args, stride);
}

/* rows x k of `operand` in vectors of lanes in the arena; fold_stride: from one half of the lanes to the other. */
static clf_status interleave(clf_context *context, const outer_batch *o, const clf_gemm_operand *operand, int64_t rows, int64_t k,
                             int64_t row_stride, int64_t k_stride, int64_t fold_stride, lane_operand *out)
{
    const int64_t matrix = rows * k * o->width;
    const bool x_is_row = row_stride < k_stride; /* x is the index that is nearer to contiguous */
    const int64_t lane_stride = operand->batch_stride[o->lane], x_stride = x_is_row ? row_stride : k_stride;
    clf_region region;
    CLF_TRY(clfi_arena_alloc(context, (size_t)(matrix * o->blocks * o->count) * sizeof(float), &region));
    *out = (lane_operand){.buffer = region.buffer, .offset = (int64_t)(region.offset_bytes / sizeof(float)), .row_stride = k * o->width,
                          .k_stride = o->width, .block_stride = matrix};
    int64_t stride = matrix * o->blocks, from_stride[CLFI_GEMM_MAX_BATCH] = {0};
    for (int i = o->rank - 1; i >= 0; i--) {
        out->batch_stride[i] = stride;
        stride *= o->size[i];
    }
    outer_strides(o, operand->batch_stride, from_stride);

    clf_kernel_spec spec = clfi_kernel_spec("gemm_interleaved.cl", "gemm_interleave");
    clfi_spec_int(&spec, "WIDTH", o->width);
    clfi_spec_int(&spec, "IS_PACK", 1);
    clfi_spec_int(&spec, "FOLD", o->fold);
    clfi_spec_dtype(&spec, "FROM", operand->dtype);
    clfi_spec_int(&spec, "IS_X_UNIT", x_stride == 1);
    clfi_spec_int(&spec, "IS_LANE_UNIT", lane_stride == 1);
    const int64_t xs = x_is_row ? rows : k, ys = x_is_row ? k : rows;
    const int64_t in_item = ITEM_BYTES / (xs * o->width * (int64_t)sizeof(float));
    const int64_t item_ys = clfi_loops_clamp(context, line_iterations(context, xs), in_item < ys ? in_item : ys);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, o->lanes);
    clfi_arg_int(&launch, xs);
    clfi_arg_int(&launch, ys);
    clfi_arg_int(&launch, item_ys);
    clfi_arg_buffer(&launch, operand->buffer);
    clfi_arg_long(&launch, operand->offset);
    clfi_arg_long(&launch, lane_stride);
    clfi_arg_long(&launch, fold_stride);
    clfi_arg_long(&launch, x_stride);
    clfi_arg_long(&launch, x_is_row ? k_stride : row_stride);
    arg_outer_size(&launch, o);
    arg_outer_stride(&launch, o, from_stride);
    clfi_arg_buffer(&launch, out->buffer);
    clfi_arg_long(&launch, out->offset);
    clfi_arg_long(&launch, x_is_row ? out->row_stride : out->k_stride);
    clfi_arg_long(&launch, x_is_row ? out->k_stride : out->row_stride);
    clfi_arg_long(&launch, out->block_stride);
    return clfi_launch_2d(&launch, (size_t)(o->blocks * o->count), (size_t)((ys + item_ys - 1) / item_ys), 1, 1);
}

/* Where it lies, if its lanes lie side by side there (only the kernel's first operand may have lanes that do not exist, or halves), else
 * interleaved. */
static clf_status lanes_of(clf_context *context, const outer_batch *o, const clf_gemm_operand *operand, int64_t rows, int64_t k,
                           int64_t row_stride, int64_t k_stride, int64_t fold_stride, bool is_first, lane_operand *out)
{
    const bool is_whole = o->fold == 1 && o->lanes % o->width == 0;
    if (operand->dtype != CLF_F32 || operand->batch_stride[o->lane] != 1 || !(is_first || is_whole))
        return interleave(context, o, operand, rows, k, row_stride, k_stride, fold_stride, out);
    *out = (lane_operand){.buffer = operand->buffer, .offset = operand->offset, .row_stride = row_stride, .k_stride = k_stride,
                          .block_stride = o->width / o->fold, .is_in_place = true};
    outer_strides(o, operand->batch_stride, out->batch_stride);
    return CLF_OK;
}

static void arg_lanes(clf_launch *launch, const outer_batch *o, const lane_operand *operand)
{
    clfi_arg_buffer(launch, operand->buffer);
    clfi_arg_long(launch, operand->offset);
    clfi_arg_long(launch, operand->row_stride);
    clfi_arg_long(launch, operand->k_stride);
    clfi_arg_long(launch, operand->block_stride);
    arg_outer_stride(launch, o, operand->batch_stride);
}

/* Lane blocks whose B fits the cache. */
static int64_t super_blocks(const outer_batch *o, const clf_gemm_args *args, int cached_kib)
{
    const int64_t fit = ((int64_t)cached_kib << 10) / (args->n * args->k * o->width * (int64_t)sizeof(float));
    return fit < 1 ? 1 : fit < o->blocks ? fit : o->blocks;
}

/* Row tiles of a work-item: one where the cache holds B anyway, else as many as leave each compute unit a few items. */
static int64_t item_tiles(const clf_context *context, const outer_batch *o, const clf_gemm_args *args, int64_t row_tiles, int cached_kib)
{
    const int64_t items = row_tiles * o->blocks * o->count, units = context->device.info.compute_units;
    if (args->n * args->k * o->width * (int64_t)sizeof(float) <= (int64_t)cached_kib << 10)
        return 1;
    const int64_t share = items / (ITEMS_PER_UNIT * units);
    return clfi_loops_clamp(context, tile_iterations(context, args), share < MOST_TILES ? share : MOST_TILES);
}

static clf_status run(clf_context *context, const clf_gemm_args *args)
{
    const outer_batch o = split_batch(context, args);
    const clf_gemm_tile tile = standard(context, &args->tile);
    const int64_t max_rows = tile.value[ROWS], max_columns = tile.value[COLUMNS];
    const int64_t m = args->m / o.fold, tiles_at_least = (m + max_rows - 1) / max_rows;
    const int64_t rows = (m + tiles_at_least - 1) / tiles_at_least, columns = args->n < max_columns ? args->n : max_columns;
    const int64_t lane_stride = args->c.batch_stride[o.lane], row_tiles = (m + rows - 1) / rows;
    const int64_t tiles = item_tiles(context, &o, args, row_tiles, tile.value[CACHED_KIB]);
    int64_t c_stride[CLFI_GEMM_MAX_BATCH] = {0};
    lane_operand a, b;
    CLF_TRY(lanes_of(context, &o, &args->a, m, args->k, args->a.row_stride * o.fold, args->a.column_stride, args->a.row_stride, true, &a));
    CLF_TRY(lanes_of(context, &o, &args->b, args->n, args->k, args->b.column_stride, args->b.row_stride, 0, false, &b));
    outer_strides(&o, args->c.batch_stride, c_stride);

    clf_kernel_spec spec = clfi_kernel_spec("gemm_interleaved.cl", "gemm_interleaved");
    clfi_spec_int(&spec, "WIDTH", o.width);
    clfi_spec_int(&spec, "IS_PACK", 0);
    clfi_spec_int(&spec, "FOLD", o.fold);
    clfi_spec_int(&spec, "HALF_WIDTH", o.width / 2);
    clfi_spec_int(&spec, "IS_A_FOLDED", o.fold == 2 && a.is_in_place);
    clfi_spec_dtype(&spec, "C", args->c.dtype);
    clfi_spec_int(&spec, "ROWS", rows);
    clfi_spec_int(&spec, "COLS", columns);
    clfi_spec_int(&spec, "IS_C_LANE_UNIT", lane_stride == 1);
    clfi_spec_int(&spec, "IS_C_F32", args->c.dtype == CLF_F32);
    clfi_spec_int(&spec, "IS_C_QUAD", lane_stride != 1 && columns == 4 && args->c.column_stride == 1 && args->c.dtype == CLF_F32);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_arg_int(&launch, o.lanes);
    clfi_arg_int(&launch, super_blocks(&o, args, tile.value[CACHED_KIB]));
    clfi_arg_int(&launch, tiles);
    arg_lanes(&launch, &o, &a);
    arg_lanes(&launch, &o, &b);
    clfi_arg_long(&launch, (int64_t)(a.buffer->size_bytes / sizeof(float)));
    clfi_arg_long(&launch, args->a.row_stride);
    clfi_arg_buffer(&launch, args->c.buffer);
    clfi_arg_long(&launch, args->c.offset);
    clfi_arg_long(&launch, args->c.row_stride * o.fold);
    clfi_arg_long(&launch, args->c.column_stride);
    clfi_arg_long(&launch, lane_stride);
    clfi_arg_long(&launch, args->c.row_stride);
    arg_outer_stride(&launch, &o, c_stride);
    arg_outer_size(&launch, &o);
    clfi_arg_float(&launch, args->alpha);
    return clfi_launch_2d(&launch, (size_t)((row_tiles + tiles - 1) / tiles * o.blocks), (size_t)o.count, 1, 1);
}

/* An odd last row of folded ones is a product of its own. */
static clf_status run_rows(clf_context *context, const clf_gemm_args *args)
{
    const outer_batch o = split_batch(context, args);
    CLF_TRY(run(context, args));
    if (args->m % o.fold == 0)
        return CLF_OK;
    clf_gemm_args last = *args;
    last.a.offset += (args->m - 1) * args->a.row_stride;
    last.c.offset += (args->m - 1) * args->c.row_stride;
    last.m = 1;
    return run(context, &last);
}

clf_status clfi_gemm_interleaved_run(clf_context *context, const clf_gemm_args *args)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = run_rows(context, args);
    clfi_arena_release(context, mark);
    return st;
}
