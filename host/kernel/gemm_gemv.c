/* SPDX-License-Identifier: MIT */
/* GEMM engine `gemv`: few rows of A, each element of B read once per 16 of them. */
#include "kernel/gemm_common.h"
#include "kernel/loops.h"

enum { ROWS, GROUP }; /* places in clf_tile: rows of a block at most, work-items of a group */

static const clf_tile_parameter parameters[] = {
    [ROWS] = {"rows", {1, 2, 4, 8, 16}},
    [GROUP] = {"group", {16, 32, 64, 128, 256}},
};

static clf_tile standard(const clf_context *context, const clf_tile *tile)
{
    clf_tile all = *tile;
    (void)context;
    if (!all.value[ROWS])
        all.value[ROWS] = 16;
    if (!all.value[GROUP])
        all.value[GROUP] = 64;
    return all;
}

/* The group's partial sums lie in local memory, and one work-item stores each row. */
static bool fits(const clf_context *context, const clf_tile *tile)
{
    const clf_tile all = standard(context, tile);
    const int rows = all.value[ROWS], group = all.value[GROUP];
    return group >= rows && (size_t)group <= context->device.caps.max_work_group_size &&
           (uint64_t)rows * (uint64_t)group * sizeof(float) <= context->device.caps.local_memory_bytes;
}

const clf_tiling clfi_gemm_gemv_tiling = {parameters, COUNT(parameters), fits, standard};

/* Rows of a block: all of them, or equal blocks of at most `most`. */
static int64_t rows_of(int64_t m, int most)
{
    const int64_t count = (m + most - 1) / most;
    return (m + count - 1) / count;
}

bool clfi_gemm_gemv_supports(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    return (!args->weight || args->weight->form == CLFI_GEMM_ROWS) && clfi_loops_fit(context, args->k);
}

static bool is_vector(const clf_gemm_args *args, const clf_gemm_operand *b)
{
    return args->k % 4 == 0 && args->a.dtype == CLF_F32 && b->dtype == CLF_F32 && args->a.column_stride == 1 && b->row_stride == 1 &&
           clfi_gemm_is_by_four(args, &args->a, args->a.row_stride) && clfi_gemm_is_by_four(args, b, b->column_stride);
}

clf_status clfi_gemm_gemv_run(clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const clf_tile tile = standard(context, &args->tile);
    const int64_t rows = rows_of(args->m, tile.value[ROWS]);
    const int group = tile.value[GROUP];
    const clf_gemm_operand b = clfi_gemm_b_operand(args);
    const bool is_dot = b.row_stride < b.column_stride;
    clf_kernel_spec spec = clfi_kernel_spec("gemm_gemv.cl", is_dot ? "gemm_gemv_dot" : "gemm_gemv_columns");
    clfi_gemm_spec_result(&spec, args, 1);
    clfi_spec_dtype(&spec, "A", args->a.dtype);
    clfi_spec_dtype(&spec, "B", b.dtype);
    clfi_spec_int(&spec, "ROWS", rows);
    clfi_spec_int(&spec, "WG", group);
    clfi_spec_int(&spec, "IS_VECTOR", is_dot && is_vector(args, &b));
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_gemm_arg_operand(&launch, args, &args->a);
    clfi_gemm_arg_operand(&launch, args, &b);
    clfi_gemm_arg_result(&launch, args);
    const size_t columns = is_dot ? (size_t)args->n : (size_t)((args->n + group - 1) / group);
    const size_t groups[3] = {columns, (size_t)((args->m + rows - 1) / rows), (size_t)clfi_gemm_batch_count(args)};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){(size_t)group, 1, 1});
}
