/* SPDX-License-Identifier: MIT */
/* Einsum plans: the canonical terms of a parsed equation, the contraction order, and the layout of every intermediate. Needs no device.
 *
 * Terms are made canonical in this order. A label repeated in one operand becomes one axis whose stride is the sum of its axes' strides.
 * Axes of size 1 are dropped. Labels that occur in one term only and not in the output are summed in a step of their own, called an own
 * sum. Size-1 output axes are dropped too: they add nothing to any address. A label then has equal sizes wherever it occurs. */
#ifndef CLFI_OP_EINSUM_PLAN_H
#define CLFI_OP_EINSUM_PLAN_H

#include <stddef.h>

#include "clformer/einsum.h"
#include "op/einsum_parse.h"

/* At most one own sum or copy for each operand, then merges. */
enum { CLFI_EINSUM_MAX_STEPS = 2 * CLF_EINSUM_MAX_OPERANDS };

typedef struct clf_einsum_step {
    int input_count;                              /* 1: own sum or copy; 2: pair; more: all remaining terms at once */
    uint8_t input[CLF_EINSUM_MAX_OPERANDS];      /* operand k, or operand_count + i for the result of step i */
    clf_label_set labels;                         /* of the inputs */
    clf_label_set kept;                           /* of the result */
    int rank;                                     /* of the result, without size-1 axes */
    uint8_t order[CLFI_EINSUM_MAX_LABELS];        /* the result's axes from outermost to innermost */
    double cost;                                  /* additions and multiplications (einsum_path.h) */
    double elements;                              /* of the result */
} clf_einsum_step;

struct clf_einsum_plan {
    clf_einsum_form form;
    int step_count; /* 0 if a label has size 0: the output is empty or all zeros */
    clf_einsum_step step[CLFI_EINSUM_MAX_STEPS];
    double cost;       /* of all steps */
    double naive_cost; /* cost of a single step that multiplies all operands */
    double largest;    /* elements of the largest intermediate; 0: none */
    double limit;      /* elements, INFINITY: none */
    int limited;       /* a memory limit is set; it holds for scratch copies too */
    struct clf_einsum_lowered *dense; /* [step_count], owned: lowered for dense operands; NULL: lowered at each run */
};

/* Makes the plan of a parsed equation. If no pair of terms satisfies the limit, a last step merges all remaining terms at once. UNSUPPORTED
 * ("E_LIMIT: ..."): `memory_limit` is 0 or below CLF_EINSUM_MAX_INPUT. OUT_OF_MEMORY. */
clf_status clfi_einsum_plan_make(const clf_einsum_form *form, int64_t memory_limit, clf_einsum_plan *out);

/* by_label: element stride of operand k for each label, from the stride of each axis (diagonals summed, size-1 axes dropped). */
void clfi_einsum_operand_strides(const clf_einsum_form *form, int k, const int64_t *axis_stride, int64_t by_label[CLFI_EINSUM_MAX_LABELS]);

/* The same for the output, and for the dense row-major result of a step. */
void clfi_einsum_output_strides(const clf_einsum_form *form, const int64_t *axis_stride, int64_t by_label[CLFI_EINSUM_MAX_LABELS]);
void clfi_einsum_step_strides(const clf_einsum_plan *plan, int step, int64_t by_label[CLFI_EINSUM_MAX_LABELS]);

/* Labels of term `number` (operand or step result). */
clf_label_set clfi_einsum_term_labels(const clf_einsum_plan *plan, int number);

#endif
