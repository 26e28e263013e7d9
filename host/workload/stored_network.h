/* SPDX-License-Identifier: MIT */
/* Reads the weights of a stack from its checkpoint by their roles, for the reference computations. Also computes the cost of decoding a
 * token. */
#ifndef CLFI_WORKLOAD_STORED_NETWORK_H
#define CLFI_WORKLOAD_STORED_NETWORK_H

#include "io/checkpoint.h"
#include "model/weight_lookup.h"
#include "nn/network.h"

typedef struct clfi_stored_network {
    clf_checkpoint *checkpoint; /* borrowed */
    const clf_name_map *names;
    const clf_weight_name *rows; /* names of the stack's weights */
    clf_weight_lookup lookup;
    clf_network_config config; /* what the family reads from config.json */
    bool is_encoder;           /* true: the stack is config.encoder, else config.decoder */
} clfi_stored_network;

/* Opens the decoder of a language model or of an encoder-decoder. The checkpoint must outlive *out. UNSUPPORTED: the model_type
 * generates no text. FORMAT: config.json. Forwards failures of reading the weights. */
clf_status clfi_stored_network_open(clf_checkpoint *checkpoint, clfi_stored_network *out);

/* Opens the stack that makes embeddings: an encoder, or the layers of a decoder used as one. Statuses as above. */
clf_status clfi_stored_network_open_encoder(clf_checkpoint *checkpoint, clfi_stored_network *out);

/* The encoder of an encoder-decoder whose decoder was opened; nothing to free. */
clfi_stored_network clfi_stored_source(const clfi_stored_network *decoder);

/* Configuration of the stack, and of its token embedding. */
const clf_stack_config *clfi_stored_stack(const clfi_stored_network *model);
const clf_embedding_config *clfi_stored_embedding(const clfi_stored_network *model);

/* A stored tensor, or the rows of it that belong to one role (query, key and value can share a tensor). */
typedef struct clfi_stored_weight {
    clf_checkpoint_tensor tensor;
    bool is_turned;               /* stored transposed, as [columns, rows] */
    int64_t first, rows, columns; /* the role's rows: the first one in the tensor, and the matrix's size */
} clfi_stored_weight;

/* Finds the matrix [rows, columns] of a role in a layer (layer 0 for weights outside the layers). NOT_FOUND: the checkpoint has no such
 * tensor. FORMAT: another shape or type. UNSUPPORTED: an adapter changes it. */
clf_status clfi_stored_matrix(const clfi_stored_network *model, clf_weight_role role, int64_t layer, int64_t rows, int64_t columns,
                              clfi_stored_weight *out);

/* Reads a vector of `count` values, which the caller frees. suffix "weight", or "bias" (*out NULL: there is none). Statuses as above,
 * and OUT_OF_MEMORY. */
clf_status clfi_stored_vector(const clfi_stored_network *model, clf_weight_role role, int64_t layer, const char *suffix, int64_t count,
                              double **out);

/* Decodes one row of a matrix: out [columns]. */
void clfi_stored_row(const clfi_stored_weight *weight, int64_t row, double *out);

/* Operations and bytes that decoding takes. */
typedef struct clfi_decoder_cost {
    double token_flops;     /* products of a token with the layers' matrices, without the keys and values of a source */
    double logit_flops;     /* products of the head for one row of logits */
    double attention_flops; /* of one pair of a query and a key, in all layers; a key may be a source token */
    double step_bytes;      /* weights that a step reads: those of the layers and of the head */
    double cache_bytes;     /* keys and values of one token, as f32 */
} clfi_decoder_cost;

/* The model: a decoder. NOT_FOUND: the checkpoint has no token embedding table. */
clf_status clfi_stored_network_cost(const clfi_stored_network *model, clfi_decoder_cost *out);

#endif
