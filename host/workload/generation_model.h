/* SPDX-License-Identifier: MIT */
/* The language models of the suite "generation": a user's, or one with random weights. */
#ifndef CLFI_WORKLOAD_GENERATION_MODEL_H
#define CLFI_WORKLOAD_GENERATION_MODEL_H

#include "clformer/model.h"
#include "model/decode_batch.h"
#include "workload/model_workloads.h"
#include "workload/random_decoder.h"
#include "workload/stored_network.h"

/* As workloads name it. */
typedef struct clfi_generation_model {
    const char *path;                /* borrowed; workloads copy it; NULL: random weights */
    clfi_random_decoder_shape shape; /* of these */
    char name[CLFI_BENCH_MODEL_NAME];
    json_t *identity; /* owned */
    int64_t vocabulary, max_positions;
    int64_t source_vocabulary; /* of an encoder-decoder; 0: a decoder alone */
    clfi_decoder_cost cost;
} clfi_generation_model;

/* UNSUPPORTED: a model without a decoder that generates text. Forwards failures of reading it. */
clf_status clfi_generation_model_read(const char *path, clfi_generation_model *out);
clf_status clfi_generation_model_random(const char *name, const clfi_random_decoder_shape *shape, clfi_generation_model *out);
void clfi_generation_model_free(clfi_generation_model *model);

/* The model as a workload gets it. */
typedef struct clfi_generation_source {
    const char *path;
    clfi_random_decoder_shape shape;
    int64_t vocabulary;
    int64_t source_vocabulary; /* of an encoder-decoder's encoder; 0: a decoder alone */
    double token_flops;
} clfi_generation_source;

enum { CLFI_GENERATION_SOURCE_TOKENS = 32 }; /* that each sequence of an encoder-decoder attends to */

/* Parameters of a workload: `size` bytes of zeros that begin with a clfi_generation_source. */
clf_status clfi_generation_parameters(const clfi_generation_model *model, size_t size, void *out);

/* A model's files: those at the path, or random numbers, which are drawn where *numbers is NULL and which the caller destroys last. */
clf_status clfi_generation_checkpoint(const clfi_generation_source *source, clfi_random_decoder **numbers, clf_checkpoint **out);

/* A model on a device, ready to decode. */
typedef struct clfi_generation_network {
    clf_model *model;     /* NULL: random weights */
    clf_network *network; /* of these */
    clf_decode_batch *decoding;
    size_t weights_bytes; /* on the device, as they are stored */
} clfi_generation_network;

/* Statuses as clf_model_open. */
clf_status clfi_generation_open(clf_context *context, const clfi_generation_source *source, clfi_random_decoder **numbers,
                                clfi_generation_network *out);
void clfi_generation_close(clfi_generation_network *network); /* zeros are accepted */

/* Tokens of each sequence's source; 0: a decoder alone. */
size_t clfi_generation_source_tokens(const clfi_generation_source *source);

/* *out [count, source tokens], the caller's: random ids, the same for every device. A decoder alone: *out stays as it is. */
clf_status clfi_generation_draw_sources(const clfi_generation_source *source, size_t count, int32_t **out);

/* Tokens of which the reference of this model is affordable: `most`, or as many as it takes some seconds for. */
size_t clfi_generation_affordable(const clfi_generation_source *source, size_t most);

/* Sequences of one length, and logits behind their last tokens. */
typedef struct clfi_generated_logits {
    const int32_t *ids;     /* [sequences, length] */
    const int32_t *sources; /* [sequences, source tokens] */
    size_t sequences, length, count;
    const float *logits; /* [sequences, count, V]: behind each of the last `count` tokens */
} clfi_generated_logits;

/* Compares them with the reference's. */
clf_status clfi_generation_check(const clfi_generation_source *source, clfi_random_decoder **numbers, const clfi_generated_logits *got,
                                 clfi_verdict *out);

#endif
