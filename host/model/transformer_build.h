/* SPDX-License-Identifier: MIT */
/* Building an encoder-decoder from a configuration and a source of weights. */
#ifndef CLFI_MODEL_TRANSFORMER_BUILD_H
#define CLFI_MODEL_TRANSFORMER_BUILD_H

#include "model/name_maps.h"
#include "nn/transformer.h"

/* Where weights come from: tensors of a caller, a checkpoint, a seed. */
typedef struct clf_weight_source {
    /* The tensor of this name and shape dim, which the caller clears. Another shape or type fails with both named. */
    clf_status (*load)(void *user, clf_context *context, const char *name, int rank, const int64_t *dim, clf_row_blocks *out);
    bool (*has)(void *user, const char *name);
    void *user;
} clf_weight_source;

clf_status clfi_transformer_build(clf_context *context, const clf_transformer_config *config, const clf_name_map *names,
                                  const clf_weight_source *source, clf_transformer **out);

#endif
