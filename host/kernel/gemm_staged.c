/* SPDX-License-Identifier: MIT */
/* GEMM engine `staged`: tiles of single matrices, whose A or C passes through private memory because its batches are adjacent elements. */
#include "kernel/gemm_common.h"
#include "kernel/gemm_lanes.h"
#include "kernel/gemm_panel.h"

enum {
    CACHED_BYTES = 640 << 10, /* most bytes of A or B between two uses: they fit a usual second-level cache together with other data */
    NEAR_BYTES = 256 << 10,   /* the same for B if the cache also holds the sums of several tiles */
    TILES = 4,
    WIDE_VECTORS = 4,
    MIN_LANES = 2,
    MIN_ROWS = 4,
    CACHED_RESULT = 1 << 19 /* elements: 2 MiB, which the second-level caches of two cores hold */
};

/* Finds a batch dimension whose batches are adjacent elements of A or C; -1: none. */
static int lane_batch(const clf_gemm_args *args)
{
    for (int i = 0; i < args->batch_rank; i++)
        if (clfi_gemm_is_in_lanes(&args->c, i) || clfi_gemm_is_in_lanes(&args->a, i))
            return i;
    return -1;
}

bool clfi_gemm_staged_supports(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const clf_device_caps *caps = &context->device.caps;
    const int lane = lane_batch(args);
    return !caps->slow_compiler && !caps->short_loops && caps->vector_width >= 4 && lane >= 0 && args->a.dtype == CLF_F32 && args->k > 0 &&
           (clfi_gemm_is_in_lanes(&args->a, lane) || args->a.column_stride == 1) &&
           (clfi_gemm_is_in_lanes(&args->c, lane) || args->c.column_stride == 1) && !args->bias.buffer && !args->residual.buffer &&
           args->column_block == 0 && args->activation == CLF_ACTIVATION_NONE;
}

static bool fits_caches(const clf_gemm_args *args)
{
    int64_t size = args->m * args->n;
    for (int i = 0; i < args->batch_rank && size <= CACHED_RESULT; i++)
        size *= args->batch[i];
    return size <= CACHED_RESULT;
}

/* Staging is worth its cost if tiles are filled and B can be packed by rows or columns. A scattered C costs more here than in vectors of
 * batches (`interleaved`), unless those vectors are mostly empty or caches hold all of C. */
bool clfi_gemm_staged_suits(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const clf_device_caps *caps = &context->device.caps;
    const int lane = lane_batch(args);
    return caps->is_cpu && args->batch[lane] >= MIN_LANES && args->m >= MIN_ROWS && args->n >= caps->vector_width &&
           !clfi_gemm_is_in_lanes(&args->b, lane) &&
           (clfi_gemm_is_in_lanes(&args->a, lane) || args->batch[lane] * 2 < caps->vector_width || fits_caches(args));
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t clamp(int64_t value, int64_t most)
{
    return value < 1 ? 1 : smaller(value, most);
}

static clf_status run(clf_context *context, const clf_gemm_args *args)
{
    const int width = context->device.caps.vector_width, lane = lane_batch(args);
    const bool is_a_staged = clfi_gemm_is_in_lanes(&args->a, lane), is_c_staged = clfi_gemm_is_in_lanes(&args->c, lane);
    /* A is staged again for every panel, so panels are wide if n fills them. */
    const bool is_wide = is_a_staged && width == 16 && args->n % (WIDE_VECTORS * width) == 0;
    const int64_t lane_total = args->batch[lane], panel = is_wide ? WIDE_VECTORS * width : clfi_gemm_panel(context, &args->tile, args->n);
    const int max_rows = clfi_gemm_panel_rows(context, (int)(panel / width));
    const int64_t lanes = lane_total <= 4 ? 4 : lane_total <= 8 || width == 8 ? 8 : 16;
    const int64_t lane_width = smaller(lanes, width), blocks = (lane_total + lane_width - 1) / lane_width;
    const int64_t tiles_at_least = (args->m + max_rows - 1) / max_rows, rows = (args->m + tiles_at_least - 1) / tiles_at_least;
    clf_gemm_operand b;
    CLF_TRY(clfi_gemm_pack_b(context, args, panel, &b));
    const int64_t batches = clfi_gemm_batch_count(args), outer_count = batches / lane_total;
    const clf_lane_operand a_at = clfi_lane_operand(args, lane, &args->a), b_at = clfi_lane_operand(args, lane, &b);
    const clf_lane_operand c_at = clfi_lane_operand(args, lane, &args->c);
    const cl_uint4 outer_size = clfi_gemm_outer_size(args, lane);

    const int64_t panels = (args->n + panel - 1) / panel, k_bytes = lane_width * (int64_t)sizeof(float);
    /* A large staged A is read for one panel after another; else a super-block of A stays in the cache for all panels. */
    const bool takes_turns = is_a_staged && panel * args->k * k_bytes > CACHED_BYTES / 2;
    const int64_t tiles = takes_turns ? TILES : 1, near_k = takes_turns ? NEAR_BYTES / (panel * k_bytes) : args->k;
    /* Pieces of k are short if B is too large for the cache. */
    const int64_t b_bytes = panels * panel * args->k * batches * (int64_t)sizeof(float);
    const int block_k = takes_turns || b_bytes <= CACHED_BYTES ? 32 : 16;
    const int64_t row_groups = (args->m + rows * tiles - 1) / (rows * tiles);
    const int64_t super_rows = is_a_staged ? 1 : clamp(CACHED_BYTES / (rows * args->k * k_bytes), row_groups);
    const int64_t near = takes_turns ? 1 : clamp(CACHED_BYTES / (panels * panel * args->k * k_bytes), blocks);

    clf_kernel_spec spec = clfi_kernel_spec("gemm_staged.cl", "gemm_staged");
    clfi_spec_int(&spec, "WIDTH", width);
    clfi_spec_dtype(&spec, "C", args->c.dtype);
    clfi_spec_int(&spec, "IS_C_F32", args->c.dtype == CLF_F32);
    clfi_spec_int(&spec, "ROWS", rows);
    clfi_spec_int(&spec, "VECTORS", panel / width);
    clfi_spec_int(&spec, "LANES", lane_width);
    clfi_spec_int(&spec, "TILES", tiles);
    clfi_spec_int(&spec, "BLOCK_K", block_k);
    clfi_spec_int(&spec, "IS_A_STAGED", is_a_staged);
    clfi_spec_int(&spec, "IS_C_STAGED", is_c_staged);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_arg_int(&launch, lane_total);
    clfi_arg_bytes(&launch, &outer_size, sizeof outer_size);
    clfi_arg_int(&launch, near_k);
    clfi_arg_int(&launch, super_rows);
    clfi_arg_int(&launch, near);
    clfi_arg_lane_operand(&launch, args->a.buffer, &a_at);
    clfi_arg_lane_operand(&launch, b.buffer, &b_at);
    clfi_arg_lane_operand(&launch, args->c.buffer, &c_at);
    clfi_arg_float(&launch, args->alpha);
    clfi_gemm_work(&launch, args);
    const size_t groups[3] = {(size_t)(row_groups * panels * near), (size_t)((blocks + near - 1) / near), (size_t)outer_count};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){1, 1, 1});
}

clf_status clfi_gemm_staged_run(clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = run(context, args);
    clfi_arena_release(context, mark);
    return st;
}
