/* SPDX-License-Identifier: MIT */
/* Lowers one einsum step from labels and strides to loops, and the loops of a pair to a batched matrix product. Needs no device. */
#ifndef CLFI_OP_EINSUM_LOWER_H
#define CLFI_OP_EINSUM_LOWER_H

#include "kernel/einsum.h"
#include "kernel/gemm.h"
#include "op/einsum_plan.h"

/* Strides of a step's operands: element strides by label, 0 where a term does not have the label. Row [inputs] is the result's. */
typedef struct clf_einsum_access {
    int inputs;
    clf_label_set labels, kept;
    int64_t stride[CLF_EINSUM_MAX_OPERANDS + 1][CLFI_EINSUM_MAX_LABELS];
} clf_einsum_access;

/* Strides of all operands and of the result of a whole einsum, by label. */
typedef struct clf_einsum_strides {
    int64_t operand[CLF_EINSUM_MAX_OPERANDS][CLFI_EINSUM_MAX_LABELS];
    int64_t output[CLFI_EINSUM_MAX_LABELS];
} clf_einsum_strides;

/* Strides of dense row-major tensors. */
void clfi_einsum_dense_strides(const clf_einsum_form *form, clf_einsum_strides *out);

/* The strides of step `index`; intermediates are dense in the plan's layout, the last step writes the result. */
void clfi_einsum_step_access(const clf_einsum_plan *plan, const clf_einsum_strides *strides, int index, clf_einsum_access *out);

/* C[batch, m, n] = sum over k of A[batch, m, k] B[batch, k, n]; strides of A, B and C in stride[0], [1] and [2]. A batch dimension may have
 * stride 0 in A or B: free labels that do not join m or n are such dimensions. */
enum { CLFI_EINSUM_MAX_BATCH = 4 };
typedef struct clf_einsum_gemm {
    int batch_rank;
    clf_einsum_dim batch[CLFI_EINSUM_MAX_BATCH];
    clf_einsum_dim m, n, k;
    bool swapped; /* A is the step's second input, B its first */
} clf_einsum_gemm;

typedef enum clf_einsum_kind {
    CLFI_EINSUM_COPY,    /* one input, nothing summed: a permutation, a diagonal, or a plain copy */
    CLFI_EINSUM_REDUCE,  /* one input, summed */
    CLFI_EINSUM_PRODUCT, /* several inputs, nothing summed */
    CLFI_EINSUM_GEMM,    /* a pair as a matrix product */
    CLFI_EINSUM_CONTRACT /* anything else: a nest of loops */
} clf_einsum_kind;

typedef struct clf_einsum_lowering {
    clf_einsum_kind kind;
    clf_einsum_loops loops; /* of every kind but GEMM */
    clf_einsum_gemm gemm;
    /* GEMM: terms (first input, second input, result) that pass through a dense copy, and its strides by label. */
    bool copied[3];
    int64_t copy_elements[3];
    int64_t copy_stride[3][CLFI_EINSUM_MAX_LABELS];
} clf_einsum_lowering;

/* A step with the strides that it was lowered for. */
typedef struct clf_einsum_lowered {
    clf_einsum_access access;
    clf_einsum_lowering lowering;
} clf_einsum_lowered;

/* The lowering of step `index` for these strides of the whole einsum. It is the plan's own one if that was made for the same strides, else
 * room->lowering. room->access is filled in either case. */
const clf_einsum_lowering *clfi_einsum_lower_step(const clf_einsum_plan *plan, const clf_einsum_strides *strides, int index,
                                                  clf_einsum_lowered *room);

/* Sets plan->dense to the lowering of every step for dense operands, so that runs with such operands lower nothing. OUT_OF_MEMORY. */
clf_status clfi_einsum_lower_dense(clf_einsum_plan *plan);

/* "copy", "reduce", "product", "gemm", "contract" */
const char *clfi_einsum_kind_name(clf_einsum_kind kind);

/* Makes the loops of an access and joins neighbours if all strides allow it. */
void clfi_einsum_loops_make(const clf_einsum_access *access, const int64_t *size, clf_einsum_loops *out);

/* Chooses the form of a step. copy_limit: no dense copy may hold more elements. A pair whose labels fuse into one m, n and k is a matrix
 * product on its operands in place. Otherwise copies, extra batches and plain loops are compared by a coarse model of their time. */
void clfi_einsum_lower(const clf_einsum_access *access, const int64_t *size, double copy_limit, clf_einsum_lowering *out);

/* Arguments of the matrix engines for a lowered pair: memory of the step's first input, second input and result. */
void clfi_einsum_gemm_args(const clf_einsum_gemm *gemm, const clf_einsum_memory term[3], clf_gemm_args *out);

#endif
