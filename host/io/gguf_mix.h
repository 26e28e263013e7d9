/* SPDX-License-Identifier: MIT */
/* Chooses the type of each tensor in a GGUF file that is written. */
#ifndef CLFI_IO_GGUF_MIX_H
#define CLFI_IO_GGUF_MIX_H

#include "io/gguf_file_type.h"
#include "io/gguf.h"

/* Facts of a whole model that the choice depends on. */
typedef struct clf_gguf_mix {
    const clf_gguf_file_type *file;
    int64_t layers;
    int64_t query_rows, value_rows; /* of the first layer */
    bool has_head;                  /* "output.weight": the token embedding table is not the head */
} clf_gguf_mix;

/* Notes what the choice needs of a tensor. The caller sets `file`, all else is 0, and shows all tensors before it asks for a type. */
void clfi_gguf_mix_see(clf_gguf_mix *mix, const clf_gguf_tensor *tensor);

/* The type that a tensor is written in, as llama.cpp chooses it for q4_k_m, q5_k_m and q6_k:
 * - The head has file->head, the token embedding table file->table.
 * - Values (attn_v, attn_qkv) and second feed-forward matrices (ffn_down) have file->better in the first and the last eighth of the layers
 *   and in every third layer between. In 70B models all values have q5_k at least.
 * - All other matrices have file->most. Vectors keep their type, and so do positions, which are added and not multiplied.
 * - In rows that are not whole blocks of 256, q5_0 replaces q4_k, q5_1 replaces q5_k, and q8_0 replaces q6_k. A tensor whose rows are not
 *   whole blocks of 32 keeps its type.
 * - If a type other than file->most is chosen, a tensor keeps its own type where that takes fewer bytes. */
clf_weight_type clfi_gguf_mixed_type(const clf_gguf_mix *mix, const clf_gguf_tensor *tensor);

#endif
