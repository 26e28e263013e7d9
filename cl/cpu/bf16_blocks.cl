/* SPDX-License-Identifier: MIT */
/* Operands of products on a CPU's matrix unit (bf16_unit.cl): each element is one bfloat16 number or the sum of two. The first one is the
 * element rounded to nearest, the second one the rest. "Lines" are rows of A or columns of B.
 *
 * A matrix is stored in blocks of 32 lines and 32 k: [line block][k block][part][half of the lines][256 words]. A word is a pair of
 * neighbours in k, the first one in its lower half. The words of a half are [line][pair] in A and [pair][line] in B: the order of the
 * unit's registers. Elements beyond the matrix are 0. A number that is not finite as bfloat16 is NaN, and so are all results that need
 * it. */
#include "types.cl"

#define BF16_LINES 32 /* also the number of k in a block */
#define BF16_HALF 256 /* words */
#define BF16_PART (2 * BF16_HALF)

/* The nearest bfloat16 numbers as floats, NaN where they would not be finite. */
static inline float16 nearest_bf16(float16 x)
{
    const uint16 bits = as_uint16(x);
    const uint16 rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
    return as_float16((bits & 0x7f800000u) == 0x7f800000u || (rounded & 0x7f800000u) == 0x7f800000u ? (uint16)(0x7fc00000u) : rounded);
}

/* Words of `lines` lines of k elements. */
static inline long bf16_words(int lines, int k, int parts)
{
    return (long)((lines + BF16_LINES - 1) / BF16_LINES) * ((k + BF16_LINES - 1) / BF16_LINES) * parts * BF16_PART;
}
