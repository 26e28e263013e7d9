/* SPDX-License-Identifier: MIT */
/* Sources of a network's weights: a checkpoint, tensors of a caller, a seed. */
#ifndef CLFI_MODEL_WEIGHT_SOURCE_H
#define CLFI_MODEL_WEIGHT_SOURCE_H

#include "clformer/transformer.h"
#include "model/weights.h"

typedef struct clf_weight_source {
    /* Loads the tensor of this name and of shape dim; the caller clears *out. Another shape or type fails with both named. A checkpoint's
     * comes in the form that clfi_weights_load has for `use`. */
    clf_status (*load)(void *user, clf_context *context, const char *name, int rank, const int64_t *dim, clf_weight_use use,
                       clf_row_blocks *out);
    bool (*has)(void *user, const char *name);
    void (*forget)(void *user, const char *name);                     /* its memory is not needed soon; NULL: nothing to do */
    bool (*is_copy)(void *user, const char *name, const char *other); /* both have the same bits; NULL: nobody knows */
    void *user;
} clf_weight_source;

/* A checkpoint, borrowed while weights are loaded. */
clf_weight_source clfi_weights_of_checkpoint(clf_weights *weights);

/* Tensors of a caller, which are copied; the list is checked. */
typedef struct clf_tensor_list {
    const clf_named_tensor *tensors;
    size_t count;
} clf_tensor_list;
clf_weight_source clfi_weights_of_tensors(clf_tensor_list *list);

/* INVALID_ARGUMENT: a name or a tensor is NULL, or a name occurs twice. */
clf_status clfi_tensor_list_check(const clf_tensor_list *list);

/* Weights drawn from a seed (clf_xavier_uniform). */
clf_weight_source clfi_weights_of_seed(uint64_t *seed);

#endif
