/* SPDX-License-Identifier: MIT */
/* Networks: embeddings, encoder stack, decoder stack and head, as a clf_network_config describes them. A network owns its stacks;
 * model/network_load.c fills them with weights. */
#ifndef CLFI_NN_NETWORK_H
#define CLFI_NN_NETWORK_H

#include <stdatomic.h>

#include "clformer/transformer.h"
#include "nn/classifier.h"
#include "nn/decoder.h"
#include "nn/encoder.h"
#include "tensor/row_blocks.h"

/* y = table[token] * scale + positions[position] + types[type], or the norm of that (the stack's kind and eps). */
typedef struct clf_embedding_config {
    int64_t vocabulary;      /* V; 0: no embedding, the input is vectors */
    int64_t max_positions;   /* longest sequence */
    int64_t trained;         /* longest sequence that the model was trained for, if longer ones run too; 0: max_positions */
    clf_positions positions; /* kind that is added to the embedding; none if the attention encodes positions */
    int64_t position_offset; /* learned: position p is row p + offset of a stored table of offset + max_positions rows */
    bool skips_padding;      /* learned: padding tokens use the row before position 0, and other tokens are counted without them */
    int32_t padding;         /* id of padding tokens */
    int64_t types;           /* token types; 0: none */
    bool has_norm;
    float scale;
} clf_embedding_config;

/* Everything about a network but its weights; the file of each model family derives it from config.json. */
typedef struct clf_network_config {
    clf_embedding_config source, target; /* for the encoder's and the decoder's tokens */
    clf_stack_config encoder, decoder;   /* layers 0: there is none */
    bool has_generator;                  /* a linear map from the decoder's features to target.vocabulary logits */
    float logit_soft_cap;                /* above 0: logits z become cap tanh(z / cap) */
    bool is_generator_tied;              /* the generator's matrix is the targets' embedding table */
    bool is_generator_shared;            /* the generator's matrix is the file's shared table, which differs from the targets' table */
    float generator_scale;               /* above 0: factor of the generator's input; loading multiplies it into the final norm's gamma */
    clf_classifier_config classifier;    /* reads the encoder's features */
} clf_network_config;

/* Defaults without sizes: post-norm layers, layer norms with eps 1e-5, GELU, embedding scale 1, no positions, a causal decoder. */
clf_network_config clfi_network_config_default(void);

/* Sets `heads` attention heads that share config->width evenly, each with its own keys. The caller sets the width first. */
void clfi_stack_config_heads(clf_stack_config *config, int64_t heads);

typedef struct clf_token_embedding {
    const clf_embedding_config *config; /* the network's */
    const clf_stack_config *stack;
    clf_row_blocks table; /* [V,C]; count 0: none */
    clf_view positions;   /* [max_positions,C], one more row in front with skips_padding; buffer NULL: none */
    clf_view types;       /* [types,C]; buffer NULL: none */
    clf_norm norm;        /* gamma.buffer NULL: none */
} clf_token_embedding;

typedef struct clf_network {
    atomic_size_t references;
    clf_context *context; /* retained */
    clf_network_config config;
    clf_stack encoder, decoder;
    clf_token_embedding source, target;
    clf_linear *generator; /* NULL: none */
    clf_classifier classifier;
    clf_buffer **kept; /* the buffers of the views above, one reference each */
    size_t kept_count, kept_capacity;
    int64_t parameters;  /* number of parameters of the checkpoint; 0: the network does not come from a checkpoint */
    uint64_t file_bytes; /* size of the checkpoint; 0 likewise */
} clf_network;

/* An empty network of the configuration: stacks allocated, no weights. INVALID_ARGUMENT ("E_SHAPE: ..."): sizes that contradict each
 * other. */
clf_status clfi_network_create(clf_context *context, const clf_network_config *config, clf_network **out);
clf_network *clfi_network_retain(clf_network *network);
/* Exchanges the weights of two networks of the same configuration and context. Pointers to parts of either network stay valid. */
void clfi_network_swap_weights(clf_network *network, clf_network *from);

void clfi_network_destroy(clf_network *network); /* gives back one reference; NULL is a no-op */

/* INVALID_ARGUMENT ("<what>: ..."): the network cannot run on `context`, because their cl_contexts differ. */
clf_status clfi_network_check_context(const char *what, const clf_network *network, const clf_context *context);

/* Takes over one reference to a buffer until the network is destroyed; releases it on failure. */
clf_status clfi_network_keep(clf_network *network, clf_buffer *buffer);

/* Passes run on the queue of `context`, which is the network's or shares its cl_context (clf_context_create_shared).
 *
 * y [T,C] f32 dense = embedded tokens: ids, positions and types i32 [T] on the device, already checked; types NULL where the network has
 * none. Enqueued. */
clf_status clfi_network_embed(clf_context *context, const clf_token_embedding *embedding, const clf_view *ids, const clf_view *positions,
                              const clf_view *types, const clf_view *y);

/* logits [T,V] f32 dense from features [T,C]. Enqueued. */
clf_status clfi_network_generate(clf_context *context, const clf_network *network, const clf_view *features, const clf_view *logits);

#endif
