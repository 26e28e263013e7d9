/* SPDX-License-Identifier: MIT */
/* How checkpoints store weights: plain numbers, or blocks of small integers that share a scale ("quantised"). A weight type is no tensor
 * dtype: tensors keep theirs, products read the stored form. Layouts of the blocks: ggml-common.h of https://github.com/ggml-org/ggml. */
#ifndef CLFI_BASE_WEIGHT_TYPE_H
#define CLFI_BASE_WEIGHT_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* id, number in GGUF files, weights of a block, bytes of a block, name. Blocks run along a row; a row holds whole blocks.
 * With h a binary16 number and q small integers, a block's weights are
 *   Q8_0  h d, 32 int8 q:                                     d q
 *   Q4_0  h d, 16 bytes (low nibbles: 0..15, high: 16..31):   d (q - 8)
 *   Q4_1  h d, h m, 16 bytes:                                 d q + m
 *   Q5_0  h d, 32 fifth bits, 16 bytes:                       d (q - 16)
 *   Q5_1  h d, h m, 32 fifth bits, 16 bytes:                  d q + m
 *   Q4_K  h d, h m, 8 pairs of 6-bit (s, t), 128 bytes:       d s q - m t, s and t of the group of 32
 *   Q5_K  the same with 32 bytes of fifth bits before the 128 bytes
 *   Q6_K  128 bytes of low nibbles, 64 of high pairs of bits, 16 int8 s, h d:  d s (q - 32), s of the group of 16 */
#define CLFI_WEIGHT_TYPE_MAP(X)      \
    X(F32, 0, 1, 4, "f32")           \
    X(F16, 1, 1, 2, "f16")           \
    X(BF16, 30, 1, 2, "bf16")        \
    X(Q8_0, 8, 32, 34, "q8_0")       \
    X(Q4_0, 2, 32, 18, "q4_0")       \
    X(Q4_1, 3, 32, 20, "q4_1")       \
    X(Q5_0, 6, 32, 22, "q5_0")       \
    X(Q5_1, 7, 32, 24, "q5_1")       \
    X(Q4_K, 12, 256, 144, "q4_k")    \
    X(Q5_K, 13, 256, 176, "q5_k")    \
    X(Q6_K, 14, 256, 210, "q6_k")

typedef enum clf_weight_type {
#define X(id, gguf, elements, bytes, name) CLF_WEIGHT_##id,
    CLFI_WEIGHT_TYPE_MAP(X)
#undef X
        CLF_WEIGHT_TYPE_COUNT
} clf_weight_type;

enum { CLFI_WEIGHT_BLOCK_MOST = 256 }; /* weights of the largest block */

typedef struct clf_weight_type_info {
    const char *name;  /* "q4_1" */
    int gguf;          /* number of the type in GGUF files */
    int block_weights; /* 1: plain numbers */
    int block_bytes;
} clf_weight_type_info;

/* Static storage. */
const clf_weight_type_info *clfi_weight_type_info(clf_weight_type type);

/* The type of a name or of a GGUF number; false when it is none of the above. */
bool clfi_weight_type_from_name(const char *name, clf_weight_type *out);
bool clfi_weight_type_from_gguf(uint32_t number, clf_weight_type *out);

/* "f32, f16, ..." for messages. */
void clfi_weight_type_list(char *out, size_t size);

/* Bytes of rows x columns weights. False: columns are not whole blocks, a size is negative, or the product does not fit. */
bool clfi_weight_bytes(clf_weight_type type, int64_t rows, int64_t columns, size_t *out);

/* `blocks` blocks (any alignment) as numbers: out[blocks * block_weights]. In double every weight is exact; in float it is rounded once. */
void clfi_weight_decode_f64(clf_weight_type type, const void *data, size_t blocks, double *out);
void clfi_weight_decode_f32(clf_weight_type type, const void *data, size_t blocks, float *out);

/* Encodes blocks * block_weights floats, in all types but q4_1. f16, bf16, q8_0 and q4_0 are rounded to nearest. q8_0 has d = max|x| / 127,
 * q4_0 has d = x_m / -8, x_m the value of the largest magnitude. q is computed with the unrounded d. For q5_0, q5_1, q4_k, q5_k and q6_k a
 * search finds scales and offsets of small squared error (base/weight_fit.h). UNSUPPORTED: q4_1. FORMAT: a value that is not finite, or for
 * the types with a search one whose magnitude is not below 65504. */
clf_status clfi_weight_encode(clf_weight_type type, const float *values, size_t blocks, void *out);

#endif
