/* SPDX-License-Identifier: MIT */
/* GEMM engine `gemv`: few rows of A, each element of B read once per 16 of them. */
#include "kernel/gemm_common.h"

enum { GROUP = 64, MAX_ROWS = 16 };

/* Rows of a block: all of them, or equal blocks of at most 16. */
static int64_t rows_of(int64_t m)
{
    const int64_t count = (m + MAX_ROWS - 1) / MAX_ROWS;
    return (m + count - 1) / count;
}

bool clfi_gemm_gemv_supports(const clf_context *context, const clf_gemm_args *args)
{
    (void)context;
    return !args->weight || args->weight->form == CLFI_GEMM_ROWS;
}

clf_status clfi_gemm_gemv_run(clf_context *context, const clf_gemm_args *args)
{
    const int64_t rows = rows_of(args->m);
    const clf_gemm_operand b = clfi_gemm_b_operand(args);
    const bool is_dot = b.row_stride < b.column_stride;
    clf_kernel_spec spec = clfi_kernel_spec("gemm_gemv.cl", is_dot ? "gemm_gemv_dot" : "gemm_gemv_columns");
    clfi_gemm_spec_result(&spec, args, 1);
    clfi_spec_dtype(&spec, "A", args->a.dtype);
    clfi_spec_dtype(&spec, "B", b.dtype);
    clfi_spec_int(&spec, "ROWS", rows);
    clfi_spec_int(&spec, "WG", GROUP);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_gemm_arg_operand(&launch, args, &args->a);
    clfi_gemm_arg_operand(&launch, args, &b);
    clfi_gemm_arg_result(&launch, args);
    const size_t columns = is_dot ? (size_t)args->n : (size_t)((args->n + GROUP - 1) / GROUP);
    const size_t groups[3] = {columns, (size_t)((args->m + rows - 1) / rows), (size_t)clfi_gemm_batch_count(args)};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){GROUP, 1, 1});
}
