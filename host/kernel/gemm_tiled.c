/* SPDX-License-Identifier: MIT */
/* GEMM engine `tiled`: any device, any strides, any storage types. */
#include "kernel/gemm_common.h"

/* Work-items along each side of a work-group; also the slice of k. */
static int side_of(const clf_context *context)
{
    return context->device.caps.max_work_group_size >= 256 ? 16 : 8;
}

bool clfi_gemm_tiled_supports(const clf_context *context, const clf_gemm_args *args)
{
    (void)context;
    return !args->weight || args->weight->form == CLFI_GEMM_ROWS;
}

clf_status clfi_gemm_tiled_run(clf_context *context, const clf_gemm_args *args)
{
    const int side = side_of(context), tile = 4 * side;
    const clf_gemm_operand b = clfi_gemm_b_operand(args);
    clf_kernel_spec spec = clfi_kernel_spec("gemm_tiled.cl", "gemm_tiled");
    clfi_gemm_spec_result(&spec, args, 1);
    clfi_spec_dtype(&spec, "A", args->a.dtype);
    clfi_spec_dtype(&spec, "B", b.dtype);
    clfi_spec_int(&spec, "SIDE", side);
    clfi_spec_int(&spec, "IS_A_K_INNER", args->a.column_stride <= args->a.row_stride);
    clfi_spec_int(&spec, "IS_B_K_INNER", b.row_stride < b.column_stride);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_gemm_arg_operand(&launch, args, &args->a);
    clfi_gemm_arg_operand(&launch, args, &b);
    clfi_gemm_arg_result(&launch, args);
    const size_t groups[3] = {(size_t)((args->n + tile - 1) / tile), (size_t)((args->m + tile - 1) / tile),
                              (size_t)clfi_gemm_batch_count(args)};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){(size_t)side, (size_t)side, 1});
}
