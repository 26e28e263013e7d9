/* SPDX-License-Identifier: MIT */
/* What a model architecture provides; one file per architecture, one row in registry.c. */
#ifndef CLFI_MODEL_ARCHITECTURE_H
#define CLFI_MODEL_ARCHITECTURE_H

#include <jansson.h>

#include "clformer/model.h"
#include "op/attention.h"
#include "tensor/view.h"

/* Packed sequences on the device, ready for a forward pass. */
typedef struct clf_token_batch {
    int32_t sequences;
    int32_t tokens;
    clf_view ids, type_ids, positions; /* i32 [tokens] */
    clf_view offsets;                  /* i32 [sequences + 1] */
    clf_attention_batch *attention;
} clf_token_batch;

typedef struct clf_architecture {
    const char *model_type; /* config.json's */
    /* Reads config and weights; fills the architecture's fields of info (layers ... max_positions, parameters, file_bytes, linear_engine). */
    clf_status (*open)(clf_context *context, const char *directory, const json_t *config, clf_model_info *info, void **out);
    void (*destroy)(void *state);
    /* hidden [tokens, C] f32, dense. Enqueued. */
    clf_status (*encode)(clf_context *context, const void *state, const clf_token_batch *batch, const clf_view *hidden);
    /* weights [H, T, T] f32, dense: of one layer, for a batch of one sequence of T tokens. Enqueued. */
    clf_status (*attention)(clf_context *context, const void *state, const clf_token_batch *batch, int64_t layer, const clf_view *weights);
} clf_architecture;

/* The row for a model_type, NULL when there is none. */
const clf_architecture *clfi_architecture_find(const char *model_type);

/* "bert, ..." for messages: the model types of all rows. */
void clfi_architecture_list(char *out, size_t size);

extern const clf_architecture clfi_architecture_bert;

#endif
