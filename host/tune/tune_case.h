/* SPDX-License-Identifier: MIT */
/* Runs one matrix product of the tuner on one context with random operands, and checks it against float64. */
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
    clfi_operand a, b, bias, c;       /* in their order in memory */
    clf_tensor *a_view, *b_view, *c_view; /* [batch, m, k], [batch, k, n], [batch, m, n]; NULL for linear layers */
    clf_linear *linear;               /* the packed b of a linear layer; NULL for other products */
    const char *engine;               /* name of the engine that the context chooses */
} clfi_tune_case;

/* Creates the operands and runs the product once. UNSUPPORTED: the context's engine does not do this product. The caller frees *out, also
 * on failure. */
clf_status clfi_tune_case_create(clf_context *context, const clfi_tune_product *product, clfi_tune_case *out);
clf_status clfi_tune_case_run(clfi_tune_case *one); /* enqueued */

/* Runs the product once and compares rows of the first and of the last batch with a float64 reference. A small product is compared in all
 * rows, a large one in rows that are spread over all positions in a tile. out->passed: within the bound. */
clf_status clfi_tune_case_verify(clfi_tune_case *one, clfi_verdict *out);
void clfi_tune_case_free(clfi_tune_case *one);

#endif
