/* SPDX-License-Identifier: MIT */
/* Sources of an encoder-decoder's weights: a checkpoint, tensors of a caller, a seed. */
#ifndef CLFI_MODEL_TRANSFORMER_WEIGHTS_H
#define CLFI_MODEL_TRANSFORMER_WEIGHTS_H

#include "model/transformer_build.h"
#include "model/weights.h"

/* A checkpoint, borrowed while weights are loaded; it must stay open as long as the network lives. */
clf_weight_source clfi_weights_of_checkpoint(clf_weights *weights);

/* Tensors of a caller. */
typedef struct clf_tensor_list {
    const clf_named_tensor *tensors;
    size_t count;
} clf_tensor_list;
clf_weight_source clfi_weights_of_tensors(clf_tensor_list *list);

/* Drawn from a seed. */
clf_weight_source clfi_weights_of_seed(uint64_t *seed);

#endif
