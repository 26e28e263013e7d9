/* SPDX-License-Identifier: MIT */
/* Weights of a stack by their roles, read from its checkpoint as numbers, for the references; and what a decoder's token costs. */
#ifndef CLFI_WORKLOAD_STORED_NETWORK_H
#define CLFI_WORKLOAD_STORED_NETWORK_H

#include "io/checkpoint.h"
#include "model/weight_lookup.h"
#include "nn/network.h"

typedef struct clfi_stored_network {
    clf_checkpoint *checkpoint; /* borrowed */
    const clf_name_map *names;
    const clf_weight_name *rows; /* of the stack's weights */
    clf_weight_lookup lookup;
    clf_network_config config; /* of the network that the family's file makes of config.json */
    bool is_encoder;           /* the stack is config.encoder, else config.decoder */
} clfi_stored_network;

/* A language model's decoder, or that of an encoder-decoder. The checkpoint outlives *out. UNSUPPORTED: a model_type that generates no
 * text. FORMAT: config.json. */
clf_status clfi_stored_network_open(clf_checkpoint *checkpoint, clfi_stored_network *out);

/* The stack that makes embeddings: an encoder, or a decoder's layers as one. Statuses as above. */
clf_status clfi_stored_network_open_encoder(clf_checkpoint *checkpoint, clfi_stored_network *out);

/* The encoder of an encoder-decoder, whose decoder was opened. */
clfi_stored_network clfi_stored_source(const clfi_stored_network *decoder);

/* The stack, and the embedding of its tokens. */
const clf_stack_config *clfi_stored_stack(const clfi_stored_network *model);
const clf_embedding_config *clfi_stored_embedding(const clfi_stored_network *model);

/* Rows of a stored tensor; a vector is one row. */
typedef struct clfi_stored_weight {
    clf_checkpoint_tensor tensor;
    bool is_turned;               /* stored as [columns, rows] */
    int64_t first, rows, columns; /* of the tensor's rows (of a vector: elements) those that the role has; columns 1: a vector */
} clfi_stored_weight;

/* rows x columns of a layer's matrix (layer 0 of what the network has once). NOT_FOUND: the checkpoint has no such tensor. FORMAT: it has
 * another shape. */
clf_status clfi_stored_matrix(const clfi_stored_network *model, clf_weight_role role, int64_t layer, int64_t rows, int64_t columns,
                              clfi_stored_weight *out);

/* `count` values of a vector, which the caller frees: suffix "bias" (*out NULL: there is none) or "weight". Statuses as above. */
clf_status clfi_stored_vector(const clfi_stored_network *model, clf_weight_role role, int64_t layer, const char *suffix, int64_t count,
                              double **out);

/* out[columns] = a row of a matrix. */
void clfi_stored_row(const clfi_stored_weight *weight, int64_t row, double *out);

/* Operations that decoding takes. */
typedef struct clfi_decoder_cost {
    double token_flops;     /* of a token's products with the layers' matrices, but for those that sources alone are given */
    double logit_flops;     /* of the head's for one row of logits */
    double attention_flops; /* of a query and a key, in all layers; those of a source as well */
    double step_bytes;      /* weights that a step reads: the layers' and the head's */
    double cache_bytes;     /* of keys and values of one token */
} clfi_decoder_cost;

clf_status clfi_stored_network_cost(const clfi_stored_network *model, clfi_decoder_cost *out);

#endif
