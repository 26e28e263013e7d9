/* SPDX-License-Identifier: MIT */
/* One matrix product of the tuner on one context: random operands, a check against float64, a run. */
#ifndef CLFI_TUNE_TUNE_CASE_H
#define CLFI_TUNE_TUNE_CASE_H

#include "clformer/linear.h"
#include "runtime/context.h"
#include "tune/tune_candidate.h"
#include "workload/operand.h"
#include "workload/verdict.h"

/* Start from zeros. */
typedef struct clfi_tune_case {
    clf_context *context; /* borrowed */
    clfi_tune_product product;
    clfi_operand a, b, bias, c;       /* as they lie in memory */
    clf_tensor *a_view, *b_view, *c_view; /* [batch, m, k], [batch, k, n], [batch, m, n]; NULL for linear layers */
    clf_linear *linear;               /* linear layers: b packed */
    const char *engine;               /* that the context chooses */
} clfi_tune_case;

/* UNSUPPORTED: the context's engine does not do this product. On failure *out is to be freed as well. */
clf_status clfi_tune_case_create(clf_context *context, const clfi_tune_product *product, clfi_tune_case *out);
clf_status clfi_tune_case_run(clfi_tune_case *one); /* enqueued */

/* Runs once. Checked are whole rows, spread so that they fall on every place in a tile, of the first and the last batch; all of a small
 * product. */
clf_status clfi_tune_case_verify(clfi_tune_case *one, clfi_verdict *out);
void clfi_tune_case_free(clfi_tune_case *one);

#endif
