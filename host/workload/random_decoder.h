/* SPDX-License-Identifier: MIT */
/* A decoder of Llama's or Qwen3's kind with random weights, as a checkpoint in memory. Workloads use it when the user names no model. */
#ifndef CLFI_WORKLOAD_RANDOM_DECODER_H
#define CLFI_WORKLOAD_RANDOM_DECODER_H

#include "io/checkpoint.h"

/* Sizes and types. Matrices consist of whole blocks of `type` (f32, f16, bf16, q8_0 or q4_0), or have the types that files of the kind
 * `mix` give them (io/gguf_mix.h). The embedding table, which is also the head, has the type that the mix gives it. Without a mix it has
 * `type`, or q8_0 if `type` is q4_0. Gains are f32. */
typedef struct clfi_random_decoder_shape {
    int64_t layers, width, hidden_width, heads, key_heads, vocabulary, positions;
    clf_weight_type type;
    const char *mix;     /* "q4_k_m", static storage; NULL: every matrix has `type` */
    int64_t head_size;   /* 0: width / heads */
    bool has_head_norms; /* of queries and keys, as in Qwen3 */
} clfi_random_decoder_shape;

typedef struct clfi_random_decoder clfi_random_decoder;

/* Makes names and sizes, without numbers. The caller destroys *out. INVALID_ARGUMENT: an unknown mix, or rows that are no whole blocks.
 * OUT_OF_MEMORY. */
clf_status clfi_random_decoder_create(const clfi_random_decoder_shape *shape, clfi_random_decoder **out);
void clfi_random_decoder_destroy(clfi_random_decoder *decoder); /* NULL is a no-op */

/* Draws the numbers, the same on every machine; a second call does nothing. Matrices are uniform with the variance 2 / (rows + columns)
 * (Glorot & Bengio 2010). The table has the standard deviation 1/8, gains lie between 1/2 and 3/2. A decoder of more than 2^26 weights
 * draws only 2^18 of each matrix; its other rows repeat these blocks, each row from another block on. OUT_OF_MEMORY. */
clf_status clfi_random_decoder_fill(clfi_random_decoder *decoder);

/* Makes a checkpoint of the decoder, which the caller closes. Before the numbers are drawn, its tensors have only names and sizes. The
 * decoder must outlive the checkpoint and every network made from it, because devices may use the numbers in place. */
clf_status clfi_random_decoder_checkpoint(clfi_random_decoder *decoder, clf_checkpoint **out);

#endif
