/* SPDX-License-Identifier: MIT */
/* Describes operands with lanes to kernels. Outer batches fill the four dimensions from the end. */
#include "kernel/gemm_lanes.h"

bool clfi_gemm_is_in_lanes(const clf_gemm_operand *operand, int batch)
{
    return operand->batch_stride[batch] == 1 && operand->row_stride != 1 && operand->column_stride != 1;
}

clf_lane_operand clfi_lane_operand(const clf_gemm_args *args, int lane, const clf_gemm_operand *operand)
{
    clf_lane_operand out = {.offset = operand->offset,
                            .end = (cl_long)(operand->buffer->size_bytes / clf_dtype_bytes(operand->dtype)),
                            .row = operand->row_stride,
                            .column = operand->column_stride,
                            .lane = operand->batch_stride[lane]};
    int to = CLFI_GEMM_MAX_BATCH;
    for (int i = args->batch_rank - 1; i >= 0; i--)
        if (i != lane)
            out.outer[--to] = operand->batch_stride[i];
    return out;
}

cl_uint4 clfi_gemm_outer_size(const clf_gemm_args *args, int lane)
{
    cl_uint4 size = {{1, 1, 1, 1}};
    int to = CLFI_GEMM_MAX_BATCH;
    for (int i = args->batch_rank - 1; i >= 0; i--)
        if (i != lane)
            size.s[--to] = (cl_uint)args->batch[i];
    return size;
}

void clfi_arg_lane_operand(clf_launch *launch, const clf_buffer *buffer, const clf_lane_operand *operand)
{
    clfi_arg_buffer(launch, buffer);
    clfi_arg_bytes(launch, operand, sizeof *operand);
}
