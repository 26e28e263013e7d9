/* SPDX-License-Identifier: MIT */
/* Macros and arguments that the GEMM launchers share. */
#include "kernel/gemm_common.h"

#include "kernel/activation.h"

enum { ACTIVATION_MULTIPLY_ADDS = 32 };

int64_t clfi_gemm_batch_count(const clf_gemm_args *args)
{
    int64_t count = 1;
    for (int i = 0; i < args->batch_rank; i++)
        count *= args->batch[i];
    return count;
}

void clfi_gemm_work(clf_launch *launch, const clf_gemm_args *args)
{
    const double m = (double)args->m, n = (double)args->n, k = (double)args->k, batches = (double)clfi_gemm_batch_count(args);
    const double products = args->gate ? 2 : 1;
    clfi_launch_work(launch, products * batches * m * n * k, (double)sizeof(float) * batches * (m * k + products * k * n + m * n));
}

/* Whether every line of an operand, outer_stride apart, begins at a multiple of `multiple` elements. */
static bool begins_at(const clf_gemm_args *args, const clf_gemm_operand *operand, int64_t outer_stride, int64_t multiple)
{
    bool is = operand->offset % multiple == 0 && outer_stride % multiple == 0;
    for (int i = 0; i < args->batch_rank; i++)
        is = is && operand->batch_stride[i] % multiple == 0;
    return is;
}

const char *clfi_gemm_reads(const clf_gemm_args *args, const clf_gemm_operand *operand, int64_t inner_stride, int64_t outer_stride,
                            int64_t multiple)
{
    const int64_t word = (int64_t)(sizeof(float) / clf_dtype_bytes(operand->dtype));
    if (inner_stride != 1 || !begins_at(args, operand, outer_stride, word))
        return "ELEMENTS";
    return begins_at(args, operand, outer_stride, multiple) ? "ALIGNED_VECTORS" : "VECTORS";
}

bool clfi_gemm_takes_gate(const clf_gemm_args *args)
{
    const clf_gemm_weight *weight = args->weight, *gate = args->gate;
    return !gate || (gate->form == weight->form && gate->blocks == weight->blocks && gate->row_stride == weight->row_stride &&
                     !gate->bias && !args->residual.buffer);
}

clf_gemm_operand clfi_gemm_b_operand(const clf_gemm_args *args)
{
    const clf_gemm_weight *weight = args->weight;
    if (!weight)
        return args->b;
    const bool is_columns = weight->form == CLFI_GEMM_COLUMNS;
    return (clf_gemm_operand){.buffer = weight->buffer,
                              .dtype = weight->dtype,
                              .offset = weight->offset,
                              .row_stride = is_columns ? weight->row_stride : 1,
                              .column_stride = is_columns ? 1 : weight->row_stride};
}

bool clfi_gemm_is_c_vector(const clf_gemm_args *args, int width)
{
    return args->c.column_stride == 1 && args->column_block % width == 0 && (!args->residual.buffer || args->residual.column_stride == 1);
}

bool clfi_gemm_is_c_aligned(const clf_gemm_args *args)
{
    const clf_gemm_operand *const operands[] = {&args->c, &args->residual};
    bool is = args->n % 4 == 0 && args->column_block % 4 == 0 && args->block_stride % 4 == 0;
    for (size_t i = 0; i < COUNT(operands); i++)
        is = is && (!operands[i]->buffer || (operands[i]->dtype == CLF_F32 && operands[i]->column_stride == 1 &&
                                             begins_at(args, operands[i], operands[i]->row_stride, 4)));
    return is;
}

bool clfi_gemm_is_near(int64_t lines, int64_t line_stride, int64_t depth, int64_t k_stride)
{
    uint64_t across, along, sum;
    return !__builtin_mul_overflow((uint64_t)lines, (uint64_t)line_stride, &across) &&
           !__builtin_mul_overflow((uint64_t)depth, (uint64_t)k_stride, &along) && !__builtin_add_overflow(across, along, &sum) &&
           sum <= UINT32_MAX;
}

void clfi_gemm_spec_types(clf_kernel_spec *spec, const clf_gemm_args *args, int width)
{
    clfi_spec_int(spec, "WIDTH", width);
    clfi_spec_dtype(spec, "C", args->c.dtype);
    clfi_spec_dtype(spec, "R", args->residual.buffer ? args->residual.dtype : CLF_F32);
    clfi_spec_text(spec, "ACTIVATE", clfi_activation_function(args->activation));
}

void clfi_gemm_spec_result(clf_kernel_spec *spec, const clf_gemm_args *args, int width)
{
    clfi_gemm_spec_types(spec, args, width);
    clfi_spec_int(spec, "HAS_BIAS", args->bias.buffer != NULL);
    clfi_spec_int(spec, "HAS_RESIDUAL", args->residual.buffer != NULL);
    clfi_spec_int(spec, "HAS_BLOCKS", args->column_block > 0);
    clfi_spec_int(spec, "HAS_BATCH", clfi_gemm_batch_count(args) > 1);
}

void clfi_gemm_arg_batch_size(clf_launch *launch, const clf_gemm_args *args)
{
    cl_uint4 size = {{1, 1, 1, 1}};
    const int skip = CLFI_GEMM_MAX_BATCH - args->batch_rank;
    for (int i = 0; i < args->batch_rank; i++)
        size.s[skip + i] = (cl_uint)args->batch[i];
    clfi_arg_struct(launch, "uint4", &size, sizeof size);
}

void clfi_gemm_arg_batch_stride(clf_launch *launch, const clf_gemm_args *args, const int64_t *stride)
{
    cl_long4 strides = {{0, 0, 0, 0}};
    const int skip = CLFI_GEMM_MAX_BATCH - args->batch_rank;
    for (int i = 0; i < args->batch_rank; i++)
        strides.s[skip + i] = stride[i];
    clfi_arg_struct(launch, "long4", &strides, sizeof strides);
}

void clfi_gemm_arg_operand(clf_launch *launch, const clf_gemm_args *args, const clf_gemm_operand *operand)
{
    clfi_arg_buffer(launch, operand->buffer);
    clfi_arg_long(launch, operand->offset);
    clfi_arg_long(launch, operand->row_stride);
    clfi_arg_long(launch, operand->column_stride);
    clfi_gemm_arg_batch_stride(launch, args, operand->batch_stride);
}

void clfi_gemm_arg_result(clf_launch *launch, const clf_gemm_args *args)
{
    clfi_arg_buffer(launch, args->c.buffer);
    clfi_arg_long(launch, args->c.offset);
    clfi_arg_long(launch, args->c.row_stride);
    clfi_arg_long(launch, args->c.column_stride);
    clfi_arg_int(launch, args->column_block);
    clfi_arg_long(launch, args->block_stride);
    clfi_arg_buffer(launch, args->bias.buffer);
    clfi_arg_long(launch, args->bias.offset);
    clfi_arg_buffer(launch, args->residual.buffer);
    clfi_arg_long(launch, args->residual.offset);
    clfi_arg_long(launch, args->residual.row_stride);
    clfi_arg_long(launch, args->residual.column_stride);
    clfi_arg_float(launch, args->alpha);
    clfi_gemm_arg_batch_size(launch, args);
    clfi_gemm_arg_batch_stride(launch, args, args->c.batch_stride);
    clfi_gemm_arg_batch_stride(launch, args, args->residual.batch_stride);
}

clf_status clfi_gemm_epilogue(clf_context *context, const clf_gemm_args *args, const clf_gemm_operand *sums, int parts)
{
    const bool is_dense = sums && sums != &args->c;
    const size_t local = context->device.caps.max_work_group_size < 64 ? 1 : 64;
    clf_kernel_spec spec = clfi_kernel_spec("gemm_epilogue.cl", "gemm_epilogue");
    clfi_gemm_spec_result(&spec, args, 1);
    clfi_spec_text(&spec, "SUM", !sums ? "SUM_NONE" : is_dense ? "SUM_DENSE" : "SUM_IN_PLACE");
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_buffer(&launch, is_dense ? sums->buffer : NULL);
    clfi_arg_long(&launch, is_dense ? sums->offset : 0);
    clfi_arg_int(&launch, parts);
    clfi_arg_long(&launch, args->m * args->n * clfi_gemm_batch_count(args));
    clfi_gemm_arg_result(&launch, args);
    const double elements = (double)(args->m * args->n * clfi_gemm_batch_count(args));
    clfi_launch_work(&launch, ACTIVATION_MULTIPLY_ADDS * elements, (double)sizeof(float) * (parts + 2) * elements);
    const size_t groups[3] = {((size_t)args->n + local - 1) / local, (size_t)args->m, (size_t)clfi_gemm_batch_count(args)};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){local, 1, 1});
}
