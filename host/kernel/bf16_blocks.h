/* SPDX-License-Identifier: MIT */
/* Operands and weights in blocks of bfloat16 numbers (cl/cpu/bf16_blocks.cl). */
#ifndef CLFI_KERNEL_BF16_BLOCKS_H
#define CLFI_KERNEL_BF16_BLOCKS_H

#include "kernel/gemm.h"

enum { CLFI_BF16_LINES = 32 /* of a block */ };

/* bfloat16 numbers for an element of that type where an engine takes at most `most` (1 or 2). */
int clfi_bf16_parts(clf_dtype dtype, int most);

/* Words of 32 bits of a packed matrix. False: they overflow. */
bool clfi_bf16_words(int64_t lines, int64_t k, int parts, int64_t *out);

/* `lay` of clf_gemm_form_info for BF16 and BF16_PAIRS. */
bool clfi_gemm_lay_bf16(const clf_context *context, const clf_tile *tile, clf_gemm_weight *weight, size_t *out_bytes);

/* Parts of a weight in such a form. */
int clfi_gemm_weight_parts(const clf_gemm_weight *weight);

#endif
