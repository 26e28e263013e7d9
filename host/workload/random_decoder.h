/* SPDX-License-Identifier: MIT */
/* A decoder of Llama's or Qwen3's kind with random weights, as a checkpoint in memory: what generation is measured with where there is no
 * model. */
#ifndef CLFI_WORKLOAD_RANDOM_DECODER_H
#define CLFI_WORKLOAD_RANDOM_DECODER_H

#include "io/checkpoint.h"

/* Sizes; matrices have whole blocks of `type` (f32, f16, bf16, q8_0 or q4_0), or the types that files of the kind `mix` give them
 * (io/gguf_mix.h). The embedding table, which is the head as well, is stored as the matrices are, but as q8_0 beside q4_0; gains are
 * f32. */
typedef struct clfi_random_decoder_shape {
    int64_t layers, width, hidden_width, heads, key_heads, vocabulary, positions;
    clf_weight_type type;
    const char *mix;     /* "q4_k_m", static storage; NULL: every matrix has `type` */
    int64_t head_size;   /* 0: width / heads */
    bool has_head_norms; /* of queries and keys, as in Qwen3 */
} clfi_random_decoder_shape;

typedef struct clfi_random_decoder clfi_random_decoder;

/* Names and sizes; no numbers yet. */
clf_status clfi_random_decoder_create(const clfi_random_decoder_shape *shape, clfi_random_decoder **out);
void clfi_random_decoder_destroy(clfi_random_decoder *decoder); /* NULL is a no-op */

/* Draws the numbers, the same on every machine: matrices uniform with the variance 2 / (rows + columns) (Glorot & Bengio 2010), the table
 * with the standard deviation 1/8, gains between 1/2 and 3/2. A decoder of more than 2^26
 * weights draws 2^18 of each matrix, and its other rows begin at other blocks of these. Done once. */
clf_status clfi_random_decoder_fill(clfi_random_decoder *decoder);

/* A checkpoint of it; before the numbers are drawn its tensors have names and sizes alone. The decoder outlives it, and every network that
 * was made from it: a device that can uses the numbers where they are. */
clf_status clfi_random_decoder_checkpoint(clfi_random_decoder *decoder, clf_checkpoint **out);

#endif
