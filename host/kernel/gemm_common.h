/* SPDX-License-Identifier: MIT */
/* Shared by the GEMM launchers: macros and arguments of the result, operands as engines see them, packing. */
#ifndef CLFI_KERNEL_GEMM_COMMON_H
#define CLFI_KERNEL_GEMM_COMMON_H

#include "kernel/gemm.h"

/* a / b, rounded up; neither is negative. */
static inline int64_t clfi_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Product of the batch sizes; 1 for rank 0. */
int64_t clfi_gemm_batch_count(const clf_gemm_args *args);

/* clfi_launch_work of the kernel that computes the whole product. */
void clfi_gemm_work(clf_launch *launch, const clf_gemm_args *args);

/* Whether there is no gate, or the gate has the weight's form, type and row stride and no bias, and there is no residual. */
bool clfi_gemm_takes_gate(const clf_gemm_args *args);

/* B as an operand: args->b, or a weight in CLFI_GEMM_ROWS or _COLUMNS form. */
clf_gemm_operand clfi_gemm_b_operand(const clf_gemm_args *args);

/* READS of cl/shared/wide_loads.cl for lines of an operand, outer_stride apart, whose elements are inner_stride apart: ALIGNED_VECTORS
 * if all lines begin at a multiple of `multiple` elements. */
const char *clfi_gemm_reads(const clf_gemm_args *args, const clf_gemm_operand *operand, int64_t inner_stride, int64_t outer_stride,
                            int64_t multiple);

/* Whether vectors of `width` columns lie together in the result and the residual. */
bool clfi_gemm_is_c_vector(const clf_gemm_args *args, int width);

/* Whether result and residual are floats that lie as aligned vectors of four columns. */
bool clfi_gemm_is_c_aligned(const clf_gemm_args *args);

/* Whether the offsets inside a tile of `lines` lines and `depth` elements of k fit 32 bits. */
bool clfi_gemm_is_near(int64_t lines, int64_t line_stride, int64_t depth, int64_t k_stride);

/* Macros of gemm_common.cl for vectors of `width` lanes. The first leaves out HAS_..., for kernels that test this at run time
 * (result_parts.cl). */
void clfi_gemm_spec_types(clf_kernel_spec *spec, const clf_gemm_args *args, int width);
void clfi_gemm_spec_result(clf_kernel_spec *spec, const clf_gemm_args *args, int width);

/* RESULT_PARAMETERS of gemm_common.cl. */
void clfi_gemm_arg_result(clf_launch *launch, const clf_gemm_args *args);

/* Buffer, offset, row stride, column stride, batch strides. */
void clfi_gemm_arg_operand(clf_launch *launch, const clf_gemm_args *args, const clf_gemm_operand *operand);

/* Sizes or strides of the batch as uint4 or long4, missing dimensions in front (1 and 0). */
void clfi_gemm_arg_batch_size(clf_launch *launch, const clf_gemm_args *args);
void clfi_gemm_arg_batch_stride(clf_launch *launch, const clf_gemm_args *args, const int64_t *stride);

/* f(alpha sum + bias) + residual as a kernel of its own. sums: NULL for no sum at all, &args->c for sums that lie in c, else dense f32
 * [parts, batch, m, n] at sums->offset, whose parts are added. */
clf_status clfi_gemm_epilogue(clf_context *context, const clf_gemm_args *args, const clf_gemm_operand *sums, int parts);

/* Copies [rows, columns] with its batches to dense f32 in the arena; a batch dimension that repeats is copied once. *out: the copy. */
clf_status clfi_gemm_pack_dense(clf_context *context, const clf_gemm_args *args, const clf_gemm_operand *operand, int64_t rows,
                                int64_t columns, clf_gemm_operand *out);

/* Packs args->b into f32 panels in the arena. *out: their buffer, offset and batch strides. */
clf_status clfi_gemm_pack_b(clf_context *context, const clf_gemm_args *args, int64_t panel, clf_gemm_operand *out);

/* Packs args->a (is_b false) or args->b into blocks of bfloat16 numbers in the arena (cl/cpu/bf16_blocks.cl). *out: their buffer, and their
 * offset and batch strides in words. */
clf_status clfi_gemm_pack_bf16(clf_context *context, const clf_gemm_args *args, bool is_b, int parts, clf_region *out_region,
                               clf_gemm_operand *out);

/* Writes a bias of any dtype and stride to `to` at an element offset: `count` f32 values, then zeros up to `padded` values. A source
 * without buffer gives zeros. clfi_gemm_padded_bias: values that the bias of `count` columns needs. */
int64_t clfi_gemm_padded_bias(int64_t count);
clf_status clfi_gemm_pack_bias(clf_context *context, const clf_gemm_operand *from, int64_t count, int64_t padded, clf_buffer *to,
                               int64_t to_offset);

/* Sets weight->bias to the biases of all parts in one buffer; it stays NULL if no part has a bias. */
clf_status clfi_gemm_pack_biases(clf_context *context, int parts, const clf_view *weights, const clf_view *biases, clf_gemm_weight *weight);

/* `pack` of clf_gemm_form_info: packs a part of a weight. COLUMNS can pack only whole weights. */
clf_status clfi_gemm_pack_weight_rows(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight);
clf_status clfi_gemm_pack_weight_columns(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight);
clf_status clfi_gemm_pack_weight_panels(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight);
clf_status clfi_gemm_pack_weight_bf16(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight);
clf_status clfi_gemm_pack_weight_blocks(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight);

#endif
