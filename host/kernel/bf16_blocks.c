/* SPDX-License-Identifier: MIT */
/* Sizes of operands and weights in blocks of bfloat16 numbers. */
#include "kernel/bf16_blocks.h"

#include "base/alloc.h"

int clfi_bf16_parts(clf_dtype dtype, int most)
{
    return dtype == CLF_BF16 ? 1 : most;
}

bool clfi_bf16_words(int64_t lines, int64_t k, int parts, int64_t *out)
{
    const int64_t blocks = (lines + CLFI_BF16_LINES - 1) / CLFI_BF16_LINES, k_blocks = (k + CLFI_BF16_LINES - 1) / CLFI_BF16_LINES;
    return !__builtin_mul_overflow(blocks, k_blocks, out) &&
           !__builtin_mul_overflow(*out, (int64_t)parts * CLFI_BF16_LINES * CLFI_BF16_LINES / 2, out);
}

int clfi_gemm_weight_parts(const clf_gemm_weight *weight)
{
    return clfi_bf16_parts(weight->dtype, 1 + (int)weight->form - (int)CLFI_GEMM_BF16);
}

bool clfi_gemm_lay_bf16(const clf_context *context, const clf_tile *tile, clf_gemm_weight *weight, size_t *out_bytes)
{
    int64_t words;
    (void)context;
    (void)tile;
    weight->panel = CLFI_BF16_LINES;
    if (!clfi_bf16_words(weight->n, weight->k, clfi_gemm_weight_parts(weight), &words))
        return false;
    return clfi_mul_size((size_t)words, sizeof(uint32_t), out_bytes);
}
