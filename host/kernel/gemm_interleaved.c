/* SPDX-License-Identifier: MIT */
/* GEMM engine `interleaved`: batches are the lanes of vectors. It is for products whose result or factors have a batch dimension innermost
 * in memory. Engines that compute one matrix at a time would touch a cache line for every element there. */
#include "kernel/gemm_common.h"
#include "kernel/gemm_lanes.h"
#include "kernel/gemm_panel.h"
#include "kernel/loops.h"

enum { BLOCK_K = 32, BLOCK_COLUMNS = 32 };   /* as in gemm_interleaved.cl */
enum { ITEMS_PER_UNIT = 4, MOST_TILES = 8 }; /* least work-items per compute unit; most row tiles per work-item */
enum { ITEM_BYTES = 1 << 14 };               /* bytes of vectors that one work-item of gemm_interleave writes */
enum { ROWS, COLUMNS, CACHED_KIB };          /* indices in clf_tile: vectors of a register tile, and how much of B is to stay in a cache */

static const clf_tile_parameter parameters[] = {
    [ROWS] = {"rows", {1, 2, 3, 4, 5, 6}},
    [COLUMNS] = {"columns", {1, 2, 3, 4}},
    [CACHED_KIB] = {"cached_kib", {64, 128, 256, 512, 1024, 2048}},
};

/* B gets 512 KiB: half of a usual second-level cache. */
static clf_tile standard(const clf_context *context, const clf_tile *tile)
{
    static const clf_tile usual = {{[ROWS] = 6, [COLUMNS] = 4, [CACHED_KIB] = 512}};
    (void)context;
    return clfi_tile_or(tile, &usual);
}

/* CPUs with narrow vectors have fewer registers. The default tile is allowed there, although it spills into the first-level cache. */
static bool fits(const clf_context *context, const clf_tile *tile)
{
    const clf_tile all = standard(context, tile);
    const int limit = clfi_gemm_registers(context) > 29 ? clfi_gemm_registers(context) : 29;
    return all.value[COLUMNS] * (all.value[ROWS] + 1) + 1 <= limit;
}

const clf_tiling clfi_gemm_interleaved_tiling = {parameters, COUNT(parameters), fits, standard};

static int lane_width(const clf_context *context)
{
    const int width = context->device.caps.vector_width;
    return context->device.caps.is_cpu && (width == 8 || width == 16) ? width : 4;
}

/* Finds the batch dimension of the lanes: one whose batches are adjacent elements of the result or a factor; -1: none. */
static int lane_batch(const clf_gemm_args *args)
{
    const clf_gemm_operand *const operands[] = {&args->c, &args->a, &args->b};
    for (size_t o = 0; o < COUNT(operands); o++)
        for (int i = 0; i < args->batch_rank; i++)
            if (clfi_gemm_is_in_lanes(operands[o], i))
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

/* Loop iterations for one line of an operand that is interleaved. */
static int64_t line_iterations(const clf_context *context, int64_t length)
{
    return 3 * lane_width(context) * length;
}

static int64_t longest_line(const clf_gemm_args *args)
{
    const int64_t longest = args->m > args->n ? args->m : args->n;
    return longest > args->k ? longest : args->k;
}

bool clfi_gemm_interleaved_supports(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const int lane = lane_batch(args);
    if (!clfi_loops_fit(context, tile_iterations(context, args)) || !clfi_loops_fit(context, line_iterations(context, longest_line(args))))
        return false;
    return lane >= 0 && args->a.batch_stride[lane] > 0 && args->b.batch_stride[lane] > 0 && !args->bias.buffer && !args->residual.buffer &&
           args->column_block == 0 && args->activation == CLF_ACTIVATION_NONE;
}

/* At least half of the lanes of a vector must have a batch; below that, other engines do the same work in whole vectors. */
bool clfi_gemm_interleaved_suits(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    return context->device.caps.is_cpu && args->batch[lane_batch(args)] >= lane_width(context) / 2;
}

/* How batches become vectors. */
typedef struct lane_split {
    int lane;              /* the batch dimension of the lanes */
    cl_uint4 outer_size;   /* sizes of the other batch dimensions */
    int64_t outer_count;   /* product of outer_size */
    int64_t lanes, blocks; /* all lanes (with fold 2 every batch has two), and the vectors that hold them */
    int width;
    int fold; /* rows of the matrix that share a vector: 2 if the last vector of batches would be half empty */
} lane_split;

/* A or B in vectors of lanes. at.row is the stride of m (A) or n (B), at.column that of k. */
typedef struct vectors {
    clf_buffer *buffer;
    clf_lane_operand at;
    bool is_in_place;
} vectors;

/* Whether the last vector of lanes would be half empty, and vectors are few enough for that to matter. */
static bool leaves_a_half(const lane_split *s)
{
    const int half = s->width / 2;
    return s->lanes % half == 0 && s->lanes / half % 2 == 1 && s->lanes < 4 * s->width;
}

static lane_split split_batch(const clf_context *context, const clf_gemm_args *args)
{
    lane_split s = {.lane = lane_batch(args), .width = lane_width(context), .fold = 1};
    s.outer_size = clfi_gemm_outer_size(args, s.lane);
    s.lanes = args->batch[s.lane];
    s.outer_count = clfi_gemm_batch_count(args) / s.lanes;
    if (leaves_a_half(&s) && args->m > 1) {
        s.fold = 2;
        s.lanes *= 2;
    }
    s.blocks = (s.lanes + s.width - 1) / s.width;
    return s;
}

/* Copies rows x k of an operand to vectors of lanes in the arena: [outer batch][block][row][k][lane]. */
static clf_status interleave(clf_context *context, const lane_split *s, const clf_lane_operand *from, clf_buffer *buffer, clf_dtype dtype,
                             int64_t rows, int64_t k, vectors *out)
{
    const int64_t matrix = rows * k * s->width;
    const bool x_is_row = from->row < from->column; /* x: the index, row or k, with the smaller stride */
    clf_region region;
    CLF_TRY(clfi_arena_alloc(context, (size_t)(matrix * s->blocks * s->outer_count) * sizeof(float), &region));
    clf_lane_operand to = {.offset = (cl_long)(region.offset_bytes / sizeof(float)),
                           .end = (cl_long)(region.buffer->size_bytes / sizeof(float)),
                           .row = k * s->width,
                           .column = s->width,
                           .lane = 1,
                           .block = matrix};
    cl_long stride = matrix * s->blocks;
    for (int i = CLFI_GEMM_MAX_BATCH - 1; i >= 0; i--) {
        to.outer[i] = stride;
        stride *= s->outer_size.s[i];
    }
    *out = (vectors){.buffer = region.buffer, .at = to};

    /* The kernel counts columns by x, so row and column are exchanged if x is the row. */
    clf_lane_operand from_x = *from, to_x = to;
    if (x_is_row) {
        from_x.column = from->row;
        from_x.row = from->column;
        to_x.column = to.row;
        to_x.row = to.column;
    }
    clf_kernel_spec spec = clfi_kernel_spec("gemm_interleaved.cl", "gemm_interleave");
    clfi_spec_int(&spec, "WIDTH", s->width);
    clfi_spec_int(&spec, "IS_PACK", 1);
    clfi_spec_int(&spec, "FOLD", s->fold);
    clfi_spec_dtype(&spec, "FROM", dtype);
    clfi_spec_int(&spec, "IS_X_UNIT", from_x.column == 1);
    clfi_spec_int(&spec, "IS_LANE_UNIT", from->lane == 1);
    const int64_t xs = x_is_row ? rows : k, ys = x_is_row ? k : rows;
    const int64_t in_item = ITEM_BYTES / (xs * s->width * (int64_t)sizeof(float));
    const int64_t item_ys = clfi_loops_clamp(context, line_iterations(context, xs), in_item < ys ? in_item : ys);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, s->lanes);
    clfi_arg_int(&launch, xs);
    clfi_arg_int(&launch, ys);
    clfi_arg_int(&launch, item_ys);
    clfi_arg_bytes(&launch, &s->outer_size, sizeof s->outer_size);
    clfi_arg_lane_operand(&launch, buffer, &from_x);
    clfi_arg_lane_operand(&launch, out->buffer, &to_x);
    clfi_launch_work(&launch, 0, 2.0 * sizeof(float) * (double)(xs * ys * s->width) * (double)(s->blocks * s->outer_count));
    return clfi_launch_2d(&launch, (size_t)(s->blocks * s->outer_count), (size_t)((ys + item_ys - 1) / item_ys), 1, 1);
}

/* Uses an operand in place if its lanes are adjacent, else interleaves it. Except for the kernel's first operand, the lanes must also fill
 * whole vectors without folding. */
static clf_status vectors_of(clf_context *context, const lane_split *s, const clf_lane_operand *at, clf_buffer *buffer, clf_dtype dtype,
                             int64_t rows, int64_t k, bool is_first, vectors *out)
{
    const bool is_whole = s->fold == 1 && s->lanes % s->width == 0;
    if (dtype != CLF_F32 || at->lane != 1 || !(is_first || is_whole))
        return interleave(context, s, at, buffer, dtype, rows, k, out);
    *out = (vectors){.buffer = buffer, .at = *at, .is_in_place = true};
    return CLF_OK;
}

/* Returns how many lane blocks of B fit into the cache together; at least 1. */
static int64_t super_blocks(const lane_split *s, const clf_gemm_args *args, int cached_kib)
{
    const int64_t fit = ((int64_t)cached_kib << 10) / (args->n * args->k * s->width * (int64_t)sizeof(float));
    return fit < 1 ? 1 : fit < s->blocks ? fit : s->blocks;
}

/* Row tiles of a work-item: one if the cache holds a lane block of B, else as many as leave each compute unit a few items. */
static int64_t item_tiles(const clf_context *context, const lane_split *s, const clf_gemm_args *args, int64_t row_tiles, int cached_kib)
{
    const int64_t items = row_tiles * s->blocks * s->outer_count, units = context->device.info.compute_units;
    if (args->n * args->k * s->width * (int64_t)sizeof(float) <= (int64_t)cached_kib << 10)
        return 1;
    const int64_t share = items / (ITEMS_PER_UNIT * units);
    return clfi_loops_clamp(context, tile_iterations(context, args), share < MOST_TILES ? share : MOST_TILES);
}

static clf_status run(clf_context *context, const clf_gemm_args *args)
{
    const lane_split s = split_batch(context, args);
    const clf_tile tile = standard(context, &args->tile);
    const int64_t max_rows = tile.value[ROWS], max_columns = tile.value[COLUMNS];
    const int64_t m = args->m / s.fold, tiles_at_least = (m + max_rows - 1) / max_rows;
    const int64_t rows = (m + tiles_at_least - 1) / tiles_at_least, columns = args->n < max_columns ? args->n : max_columns;
    const int64_t row_tiles = (m + rows - 1) / rows;
    const int64_t tiles = item_tiles(context, &s, args, row_tiles, tile.value[CACHED_KIB]);

    clf_lane_operand a_at = clfi_lane_operand(args, s.lane, &args->a), c_at = clfi_lane_operand(args, s.lane, &args->c);
    clf_lane_operand b_at = clfi_lane_operand(args, s.lane, &args->b), *const folded[] = {&a_at, &c_at};
    for (size_t i = 0; i < COUNT(folded); i++) {
        folded[i]->fold = folded[i]->row;
        folded[i]->row *= s.fold;
        folded[i]->block = folded[i]->lane * (s.width / s.fold);
    }
    b_at.row = args->b.column_stride;
    b_at.column = args->b.row_stride;
    b_at.block = s.width;
    vectors a, b;
    CLF_TRY(vectors_of(context, &s, &a_at, args->a.buffer, args->a.dtype, m, args->k, true, &a));
    CLF_TRY(vectors_of(context, &s, &b_at, args->b.buffer, args->b.dtype, args->n, args->k, false, &b));

    clf_kernel_spec spec = clfi_kernel_spec("gemm_interleaved.cl", "gemm_interleaved");
    clfi_spec_int(&spec, "WIDTH", s.width);
    clfi_spec_int(&spec, "IS_PACK", 0);
    clfi_spec_int(&spec, "FOLD", s.fold);
    clfi_spec_int(&spec, "HALF_WIDTH", s.width / 2);
    clfi_spec_int(&spec, "IS_A_FOLDED", s.fold == 2 && a.is_in_place);
    clfi_spec_dtype(&spec, "C", args->c.dtype);
    clfi_spec_int(&spec, "ROWS", rows);
    clfi_spec_int(&spec, "COLS", columns);
    clfi_spec_int(&spec, "IS_C_LANE_UNIT", c_at.lane == 1);
    clfi_spec_int(&spec, "IS_C_F32", args->c.dtype == CLF_F32);
    clfi_spec_int(&spec, "IS_C_QUAD", c_at.lane != 1 && columns == 4 && c_at.column == 1 && args->c.dtype == CLF_F32);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_arg_int(&launch, s.lanes);
    clfi_arg_bytes(&launch, &s.outer_size, sizeof s.outer_size);
    clfi_arg_int(&launch, super_blocks(&s, args, tile.value[CACHED_KIB]));
    clfi_arg_int(&launch, tiles);
    clfi_arg_lane_operand(&launch, a.buffer, &a.at);
    clfi_arg_lane_operand(&launch, b.buffer, &b.at);
    clfi_arg_lane_operand(&launch, args->c.buffer, &c_at);
    clfi_arg_float(&launch, args->alpha);
    clfi_gemm_work(&launch, args);
    return clfi_launch_2d(&launch, (size_t)((row_tiles + tiles - 1) / tiles * s.blocks), (size_t)s.outer_count, 1, 1);
}

/* With fold 2, an odd last row is a product of its own. */
static clf_status run_rows(clf_context *context, const clf_gemm_args *args)
{
    const lane_split s = split_batch(context, args);
    CLF_TRY(run(context, args));
    if (args->m % s.fold == 0)
        return CLF_OK;
    clf_gemm_args last = *args;
    last.a.offset += (args->m - 1) * args->a.row_stride;
    last.c.offset += (args->m - 1) * args->c.row_stride;
    last.m = 1;
    return run(context, &last);
}

clf_status clfi_gemm_interleaved_run(clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = run_rows(context, args);
    clfi_arena_release(context, mark);
    return st;
}
