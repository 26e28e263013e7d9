/* SPDX-License-Identifier: MIT */
/* The Transformer in double, in plain loops: weights by labml's names, batch-first sequences, and rounding errors like float32's on
 * request. */
#ifndef CLFI_WORKLOAD_REFERENCE_TRANSFORMER_H
#define CLFI_WORKLOAD_REFERENCE_TRANSFORMER_H

#include <stdbool.h>

#include "base/status.h"
#include "clformer/transformer.h"
#include "io/safetensors.h"
#include "base/random.h"

enum { CLFI_REF_NAME_BYTES = 96 };

typedef struct clfi_ref_weight {
    char name[CLFI_REF_NAME_BYTES];
    int rank;
    int64_t dim[3];
    float *value; /* owned by the list */
} clfi_ref_weight;

typedef struct clfi_ref_weights {
    clfi_ref_weight *items;
    size_t count, capacity;
} clfi_ref_weights;

/* Adds a tensor of a checkpoint under the name `name`. NOT_FOUND: the checkpoint has no file_name. INVALID_ARGUMENT: the name is too
 * long, or the tensor has more than three dimensions. OUT_OF_MEMORY. */
clf_status clfi_ref_weights_load(clfi_ref_weights *weights, const clf_safetensors *file, const char *file_name, const char *name);

/* Adds all weights that a configuration needs, filled with zeros. INVALID_ARGUMENT: a weight too large. OUT_OF_MEMORY. */
clf_status clfi_ref_weights_add_all(clfi_ref_weights *weights, const clf_transformer_config *config);

/* Copies the target embedding's matrix to the generator if the configuration ties them. */
void clfi_ref_weights_tie(clfi_ref_weights *weights, const clf_transformer_config *config);

/* Adds all weights with the numbers of clf_transformer_create_random. Statuses as clfi_ref_weights_add_all. */
clf_status clfi_ref_weights_add_seeded(clfi_ref_weights *weights, const clf_transformer_config *config, uint64_t seed);

const clfi_ref_weight *clfi_ref_weights_find(const clfi_ref_weights *weights, const char *name); /* NULL: no weight has that name */
void clfi_ref_weights_free(clfi_ref_weights *weights);

/* Rounding errors: every intermediate value is moved by a random part of its own float32 bound. Products of k terms have the bound
 * sqrt(k) u |x||w|, u = 2^-24 (Higham & Mary 2019); sums, softmax, norms and activations have similar bounds. The difference between a
 * pass with these errors and a pass without shows how sensitive a network is (stochastic arithmetic, Vignes 1993). Functions that take a
 * noise accept NULL: exact. */
typedef clfi_random clfi_ref_noise;
double clfi_ref_rounded(clfi_ref_noise *noise, double value, double bound);

/* Euclidean norm. */
double clfi_ref_length(const double *x, int64_t count);

/* Additions to a pass, as clf_transformer_params have them: dropout of a training, changed scores, and intermediate values to compare. */
typedef struct clfi_ref_extras {
    float weight_dropout, hidden_dropout, result_dropout;
    uint64_t seed;
    /* [2 reach + 1, d]: self-attention scores are scale q_i . (k_j + relative[clamp(j - i) + reach]) (Shaw et al. 2018); NULL: none */
    const float *relative;
    const double *distance_bias; /* [heads, 2 reach + 1]: added to self-attention scores by the same distance (MPNet); NULL: none */
    int64_t reach;
    double *self_weights, *source_weights, *ff_input; /* [layers,N,H,Q,K], [layers,N,H,Q,K], [layers,N,L,C]; NULL: not wanted */
} clfi_ref_extras;

/* keep_self, keep_source: [((n * heads + h) * Q + i) * K + j] says whether query i may use key j; NULL: all. */
typedef struct clfi_ref_batch {
    int64_t batch, source_length, target_length;
    const bool *keep_self, *keep_source; /* masks for the stack that runs */
    const clfi_ref_extras *extras;       /* NULL: inference */
} clfi_ref_batch;

/* All of the following fail with NOT_FOUND if a weight is missing, and with OUT_OF_MEMORY. */

/* Runs x [N,L,C] in place through the encoder (is_decoder false, L = source_length), or through the decoder (L = target_length) with
 * memory [N,S,C]. */
clf_status clfi_ref_stack(const clf_transformer_config *config, const clfi_ref_weights *weights, bool is_decoder,
                          const clfi_ref_batch *batch, const double *memory, double *x, clfi_ref_noise *noise);

/* x [N,L,C] = table[token] * scale + position, or the layer norm of that. */
clf_status clfi_ref_embed(const clf_transformer_config *config, const clfi_ref_weights *weights, bool is_target, int64_t batch,
                          int64_t length, const int32_t *tokens, double *x);

/* logits [rows,V] of features [rows,C]; is_log: their log-softmax. */
clf_status clfi_ref_generate(const clf_transformer_config *config, const clfi_ref_weights *weights, int64_t rows, const double *features,
                             bool is_log, double *logits, clfi_ref_noise *noise);

/* out [target_length,V]: log-probabilities of the token after each token of one target, given one source. One pass computes all of them,
 * without a cache. */
clf_status clfi_ref_log_probabilities(const clf_transformer_config *config, const clfi_ref_weights *weights, int64_t source_length,
                                      const int32_t *source, int64_t target_length, const int32_t *target, double *out,
                                      clfi_ref_noise *noise);

#endif
