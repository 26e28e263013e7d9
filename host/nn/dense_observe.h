/* SPDX-License-Identifier: MIT */
/* Applies clf_transformer_params to a pass over a dense batch: dropout, score functions, outputs of layers. */
#ifndef CLFI_NN_DENSE_OBSERVE_H
#define CLFI_NN_DENSE_OBSERVE_H

#include "nn/dense.h"

/* INVALID_ARGUMENT: a probability outside [0,1), or outputs is NULL although output_count is not 0. */
clf_status clfi_dense_check_params(const clf_transformer_params *params);

/* Checks the outputs that batch->params (not NULL) name for this stack. INVALID_ARGUMENT: unknown layer or value, wrong shape, dtype or
 * context, a repeated axis, or two outputs for one value. */
clf_status clfi_dense_check_outputs(clf_context *context, const clf_stack *stack, const clf_dense_batch *batch);

/* Sets the dropout and score function of an attention. Returns the view that receives its weights; NULL: none. */
const clf_view *clfi_dense_observe(const clf_dense_batch *batch, int64_t layer, bool is_source, clf_dense_attention *attention);

/* The visitor of the pass; its `visit` is NULL if the parameters ask for nothing at any point. */
clf_layer_visitor clfi_dense_visitor(const clf_dense_batch *batch);

#endif
