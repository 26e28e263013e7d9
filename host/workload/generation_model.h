/* SPDX-License-Identifier: MIT */
/* Language models of the suite "generation": a model of the user, or one with random weights. */
#ifndef CLFI_WORKLOAD_GENERATION_MODEL_H
#define CLFI_WORKLOAD_GENERATION_MODEL_H

#include "clformer/model.h"
#include "model/decode_batch.h"
#include "workload/model_workloads.h"
#include "workload/random_decoder.h"
#include "workload/stored_network.h"

/* A model and what its workloads need to know of it. */
typedef struct clfi_generation_model {
    const char *path;                /* borrowed; workloads copy it. NULL: random weights */
    clfi_random_decoder_shape shape; /* of the random weights */
    char name[CLFI_BENCH_MODEL_NAME];
    json_t *identity; /* owned: {"name", ...}; equal objects mean the same model */
    int64_t vocabulary, max_positions;
    int64_t source_vocabulary; /* of an encoder-decoder; 0: a decoder alone */
    clfi_decoder_cost cost;
} clfi_generation_model;

/* Fills *out, which the caller frees. path: a hub directory or a GGUF file. UNSUPPORTED: a model without a decoder that generates text.
 * Forwards failures of reading it. */
clf_status clfi_generation_model_read(const char *path, clfi_generation_model *out);
clf_status clfi_generation_model_random(const char *name, const clfi_random_decoder_shape *shape, clfi_generation_model *out);
void clfi_generation_model_free(clfi_generation_model *model);

/* The model as parameters of a workload; the path is a copy of the workload's own. */
typedef struct clfi_generation_source {
    const char *path;
    clfi_random_decoder_shape shape;
    int64_t vocabulary;
    int64_t source_vocabulary; /* of an encoder-decoder's encoder; 0: a decoder alone */
    double token_flops;
} clfi_generation_source;

enum { CLFI_GENERATION_SOURCE_TOKENS = 32 }; /* length of the source that each sequence of an encoder-decoder attends to */

/* Allocates the parameters of a workload: `size` bytes that begin with a clfi_generation_source, zeros after it. out: address of the
 * pointer that receives them. OUT_OF_MEMORY. */
clf_status clfi_generation_parameters(const clfi_generation_model *model, size_t size, void *out);

/* Opens the model's files, or a checkpoint of random numbers, which are drawn if *numbers is NULL. The caller closes *out and destroys
 * *numbers last. */
clf_status clfi_generation_checkpoint(const clfi_generation_source *source, clfi_random_decoder **numbers, clf_checkpoint **out);

/* A model on a device, ready to decode. */
typedef struct clfi_generation_network {
    clf_model *model;     /* NULL: random weights */
    clf_network *network; /* of the random weights */
    clf_decode_batch *decoding;
    size_t weights_bytes; /* bytes of the weights on the device, in the form of the file */
} clfi_generation_network;

/* Statuses as clf_model_open. */
clf_status clfi_generation_open(clf_context *context, const clfi_generation_source *source, clfi_random_decoder **numbers,
                                clfi_generation_network *out);
void clfi_generation_close(clfi_generation_network *network); /* zeros are accepted */

/* Length of the source of each sequence; 0: the model is a decoder alone. */
size_t clfi_generation_source_tokens(const clfi_generation_source *source);

/* *out [count, source tokens]: random ids, the same for every device; the caller frees it. A decoder alone leaves *out as it is.
 * OUT_OF_MEMORY. */
clf_status clfi_generation_draw_sources(const clfi_generation_source *source, size_t count, int32_t **out);

/* How many tokens the reference can afford for this model: `most`, or fewer if that takes longer than some seconds. */
size_t clfi_generation_affordable(const clfi_generation_source *source, size_t most);

/* Sequences of one length, and their logits after each of their last tokens. */
typedef struct clfi_generated_logits {
    const int32_t *ids;     /* [sequences, length] */
    const int32_t *sources; /* [sequences, source tokens]; ignored for a decoder alone */
    size_t sequences, length, count;
    const float *logits; /* [sequences, count, V]: after each of the last `count` tokens */
} clfi_generated_logits;

/* Compares the logits with the float64 reference's. Forwards failures of opening and reading the model. */
clf_status clfi_generation_check(const clfi_generation_source *source, clfi_random_decoder **numbers, const clfi_generated_logits *got,
                                 clfi_verdict *out);

#endif
