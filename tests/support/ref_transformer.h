/* SPDX-License-Identifier: MIT */
/* The Transformer in double, in the plainest loops: weights by labml's names, batch-first sequences. */
#ifndef CLF_TEST_REF_TRANSFORMER_H
#define CLF_TEST_REF_TRANSFORMER_H

#include <stdbool.h>

#include "clformer/transformer.h"

enum { REF_MOST_WEIGHTS = 256, REF_NAME_BYTES = 96 };

typedef struct ref_weight {
    char name[REF_NAME_BYTES];
    int rank;
    int64_t dim[3];
    float *value; /* owned by the list */
} ref_weight;

typedef struct ref_weights {
    ref_weight weight[REF_MOST_WEIGHTS];
    int count;
} ref_weights;

/* All weights that a configuration needs; values uniform in [-range, range], norm gains around 1. */
void ref_weights_make(const clf_transformer_config *config, uint64_t seed, float range, ref_weights *out);
void ref_weights_free(ref_weights *weights);
const ref_weight *ref_weights_find(const ref_weights *weights, const char *name); /* fails the test when there is none */

/* keep[((n * heads + h) * Q + i) * K + j]: query i may use key j; NULL: all. */
typedef struct ref_batch {
    int64_t batch, source_length, target_length;
    const bool *keep_self, *keep_source; /* of the stack that runs */
} ref_batch;

/* x [N,L,C] in place through the encoder (is_decoder false, L = source_length) or the decoder with memory [N,S,C]. */
void ref_stack(const clf_transformer_config *config, const ref_weights *weights, bool is_decoder, const ref_batch *batch, const double *memory,
               double *x);

/* x [N,L,C] = table[token] * sqrt(C) + position. */
void ref_embed(const clf_transformer_config *config, const ref_weights *weights, bool is_target, int64_t batch, int64_t length,
               const int32_t *tokens, double *x);

/* logits [rows,V]; log-softmax of them where is_log. */
void ref_generate(const clf_transformer_config *config, const ref_weights *weights, int64_t rows, const double *features, bool is_log,
                  double *logits);

#endif
