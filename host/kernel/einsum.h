/* SPDX-License-Identifier: MIT */
/* Loops over strided operands: out[kept] = sum over summed of the product of the inputs. Copies, permutations, diagonals, sums, products
 * and contractions of any number of operands are all of this form. */
#ifndef CLFI_KERNEL_EINSUM_H
#define CLFI_KERNEL_EINSUM_H

#include "tensor/view.h"

enum {
    CLFI_EINSUM_MAX_OPERANDS = 16,
    CLFI_EINSUM_MAX_LABELS = 68 /* loops */
};

/* One loop: its size, and the element stride it has in each input; stride[inputs] is the output's. */
typedef struct clf_einsum_dim {
    int64_t size;
    int64_t stride[CLFI_EINSUM_MAX_OPERANDS + 1];
} clf_einsum_dim;

/* Loops from outermost to innermost, none of size 0 or 1; all strides >= 0. */
typedef struct clf_einsum_loops {
    int inputs;
    int kept_rank, summed_rank;
    clf_einsum_dim kept[CLFI_EINSUM_MAX_LABELS], summed[CLFI_EINSUM_MAX_LABELS];
} clf_einsum_loops;

/* An operand's memory; strides are in the loops. */
typedef struct clf_einsum_memory {
    clf_buffer *buffer; /* borrowed */
    clf_dtype dtype;    /* f32, f16 or bf16 */
    int64_t offset;     /* elements */
} clf_einsum_memory;

/* Runs the loops. in[0..loops->inputs); no input writes zeros. out overlaps no input. Sums and products in f32; long sums are cut into
 * slices that a second launch adds, from the context's arena. Enqueued. UNSUPPORTED: a dtype. */
clf_status clfi_einsum_loops(clf_context *context, const clf_einsum_loops *loops, const clf_einsum_memory *in,
                             const clf_einsum_memory *out);

#endif
