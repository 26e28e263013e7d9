/* SPDX-License-Identifier: MIT */
/* Encoder-decoder network: token embeddings with positions, the two stacks, the generator. Built by model/transformer_build.c. */
#ifndef CLFI_NN_TRANSFORMER_H
#define CLFI_NN_TRANSFORMER_H

#include "clformer/transformer.h"
#include "nn/decoder.h"
#include "nn/encoder.h"
#include "tensor/row_blocks.h"

/* y = table[token] * scale + positions[position], or the layer norm of that */
typedef struct clf_token_embedding {
    clf_row_blocks table; /* [V,C]; count 0: none */
    clf_view positions;   /* [max,C]; buffer NULL: none */
    clf_norm norm;        /* gamma.buffer NULL: none */
} clf_token_embedding;

struct clf_transformer {
    clf_context *context; /* retained */
    clf_transformer_config config;
    clf_encoder encoder;
    clf_decoder decoder;
    clf_token_embedding source, target;
    clf_linear *generator; /* NULL: none */
    clf_buffer **kept;     /* one reference each: what the views above lie in */
    size_t kept_count, kept_capacity;
    void *owner;           /* of memory that the weights use in place; NULL: none */
    void (*release_owner)(void *owner); /* called when the network and its buffers are gone */
};

/* An empty network of the configuration: stacks allocated, no weights. INVALID_ARGUMENT: sizes that make no sense ("E_SHAPE: ..."), settings
 * that contradict each other ("E_VALUE: ..."). */
clf_status clfi_transformer_allocate(clf_context *context, const clf_transformer_config *config, clf_transformer **out);

/* Takes over one reference to a buffer until the network is destroyed; releases it on failure. */
clf_status clfi_transformer_keep(clf_transformer *transformer, clf_buffer *buffer);

/* y [T,C] f32 dense = embedded tokens: ids and positions i32 [T] on the device, already checked. Enqueued. */
clf_status clfi_transformer_embed(const clf_transformer *transformer, const clf_token_embedding *embedding, const clf_view *ids,
                                  const clf_view *positions, const clf_view *y);

/* logits [T,V] f32 dense from features [T,C]. Enqueued. */
clf_status clfi_transformer_generate(const clf_transformer *transformer, const clf_view *features, const clf_view *logits);

#endif
