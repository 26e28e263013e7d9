/* SPDX-License-Identifier: MIT */
/* Describes strided loops over operands for the kernels that copy, sum and multiply. */
#ifndef CLFI_KERNEL_EINSUM_OPERANDS_H
#define CLFI_KERNEL_EINSUM_OPERANDS_H

#include "clformer/einsum.h"
#include "tensor/view.h"

enum { CLFI_EINSUM_MAX_LABELS = 68 /* loops */ };

/* One loop: its size, and the element stride it has in each input; stride[inputs] is the output's. */
typedef struct clf_einsum_dim {
    int64_t size;
    int64_t stride[CLF_EINSUM_MAX_OPERANDS + 1];
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

#endif
