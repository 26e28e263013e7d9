/* SPDX-License-Identifier: MIT */
/* Additions of clf_transformer_params to a pass over a dense batch: dropout, score functions, values of layers that are read. */
#ifndef CLFI_NN_DENSE_OBSERVE_H
#define CLFI_NN_DENSE_OBSERVE_H

#include "nn/dense.h"

/* Whether the parameters' numbers are in range. INVALID_ARGUMENT. */
clf_status clfi_dense_check_params(const clf_transformer_params *params);

/* Whether the outputs of the stack that runs over the batch fit it. INVALID_ARGUMENT. */
clf_status clfi_dense_check_outputs(clf_context *context, const clf_stack *stack, const clf_dense_batch *batch);

/* Sets dropout and score function of an attention. Returns where its weights are wanted, or NULL. */
const clf_view *clfi_dense_observe(const clf_dense_batch *batch, int64_t layer, bool is_source, clf_dense_attention *attention);

/* visit NULL: nothing to do at any point. */
clf_layer_visitor clfi_dense_visitor(const clf_dense_batch *batch);

#endif
