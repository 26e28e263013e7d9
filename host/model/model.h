/* SPDX-License-Identifier: MIT */
/* The loaded model inside the library. */
#ifndef CLFI_MODEL_MODEL_H
#define CLFI_MODEL_MODEL_H

#include "model/architecture.h"
#include "text/tokenizer.h"

struct clf_model {
    clf_context *context; /* retained */
    const clf_architecture *architecture;
    void *state;
    clf_model_info info;
    clf_tokenizer *tokenizer;
    /* Reused between forward passes. */
    clf_attention_batch *attention;
    clf_buffer *token_buffer;
    int32_t *token_host;
    size_t token_capacity; /* int32 elements of both */
};

/* Checks ids, lengths and offsets and puts them on the device. INVALID_ARGUMENT names the sequence and the value. The batch borrows the
 * model's buffers: the next call overwrites it. */
clf_status clfi_model_set_batch(clf_model *model, const int32_t *ids, const int32_t *type_ids, const int32_t *offsets, size_t sequences,
                                clf_token_batch *out);

#endif
