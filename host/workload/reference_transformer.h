/* SPDX-License-Identifier: MIT */
/* The Transformer in double, in plain loops: weights by labml's names, batch-first sequences; with float32's rounding errors on request. */
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

/* Adds a tensor of a checkpoint under another name. NOT_FOUND: it has none of that name. */
clf_status clfi_ref_weights_load(clfi_ref_weights *weights, const clf_safetensors *file, const char *file_name, const char *name);

/* Adds all weights that a configuration needs, of zeros. */
clf_status clfi_ref_weights_add_all(clfi_ref_weights *weights, const clf_transformer_config *config);

/* Makes the generator's matrix the target embedding's where the configuration ties them. */
void clfi_ref_weights_tie(clfi_ref_weights *weights, const clf_transformer_config *config);

/* All weights with the numbers of clf_transformer_create_random. */
clf_status clfi_ref_weights_add_seeded(clfi_ref_weights *weights, const clf_transformer_config *config, uint64_t seed);

const clfi_ref_weight *clfi_ref_weights_find(const clfi_ref_weights *weights, const char *name); /* NULL: there is none */
void clfi_ref_weights_free(clfi_ref_weights *weights);

/* Rounding errors: every intermediate value is off by a random part of its own float32 bound. Products of k terms have the bound sqrt(k) u
 * |x||w|, u = 2^-24 (Higham & Mary 2019); sums, softmax, norms and activations have bounds of the same kind. What a pass with them and one
 * without differ by shows how sensitive a network is (stochastic arithmetic, Vignes 1993). A pointer to it may be NULL: exact. */
typedef clfi_random clfi_ref_noise;
double clfi_ref_rounded(clfi_ref_noise *noise, double value, double bound);

/* Euclidean norm. */
double clfi_ref_length(const double *x, int64_t count);

/* Training's dropout, scores of one's own, and values to compare, as clf_transformer_params have them. */
typedef struct clfi_ref_extras {
    float weight_dropout, hidden_dropout, result_dropout;
    uint64_t seed;
    /* [2 reach + 1, d]: self-attention scores are scale q_i . (k_j + relative[clamp(j - i) + reach]) (Shaw et al. 2018); NULL: none */
    const float *relative;
    const double *distance_bias; /* [heads, 2 reach + 1]: added to these scores, by the same distance (MPNet); NULL: none */
    int64_t reach;
    double *self_weights, *source_weights, *ff_input; /* [layers,N,H,Q,K], [layers,N,H,Q,K], [layers,N,L,C]; NULL: not wanted */
} clfi_ref_extras;

/* keep[((n * heads + h) * Q + i) * K + j]: query i may use key j; NULL: all. */
typedef struct clfi_ref_batch {
    int64_t batch, source_length, target_length;
    const bool *keep_self, *keep_source; /* of the stack that runs */
    const clfi_ref_extras *extras;       /* NULL: inference */
} clfi_ref_batch;

/* All fail with NOT_FOUND for a weight that is not there, and OUT_OF_MEMORY. */

/* x [N,L,C] in place through the encoder (is_decoder false, L = source_length) or the decoder with memory [N,S,C]. */
clf_status clfi_ref_stack(const clf_transformer_config *config, const clfi_ref_weights *weights, bool is_decoder,
                          const clfi_ref_batch *batch, const double *memory, double *x, clfi_ref_noise *noise);

/* x [N,L,C] = table[token] * scale + position, or the layer norm of that. */
clf_status clfi_ref_embed(const clf_transformer_config *config, const clfi_ref_weights *weights, bool is_target, int64_t batch,
                          int64_t length, const int32_t *tokens, double *x);

/* logits [rows,V]; log-softmax of them where is_log. */
clf_status clfi_ref_generate(const clf_transformer_config *config, const clfi_ref_weights *weights, int64_t rows, const double *features,
                             bool is_log, double *logits, clfi_ref_noise *noise);

/* out [target_length,V]: log-probabilities of what follows each token of one target after one source; every pass is over all of them. */
clf_status clfi_ref_log_probabilities(const clf_transformer_config *config, const clfi_ref_weights *weights, int64_t source_length,
                                      const int32_t *source, int64_t target_length, const int32_t *target, double *out,
                                      clfi_ref_noise *noise);

#endif
