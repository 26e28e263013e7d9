/* SPDX-License-Identifier: MIT */
/* Fills a block of bfloat16 numbers from floats, for the probe of a unit and for the measurement of its rate. */
#include "bf16_private.cl"
#include "bf16_unit.cl"

/* Writes numbers 2 pair and 2 pair + 1 of a line into a block. They must be exact as bfloat16. */
static inline void put_pair(uint *block, int line, int pair, float2 numbers, bool is_b)
{
    const uint2 bits = as_uint2(numbers);
    const int at = is_b ? pair * 16 + line % 16 : line % 16 * 16 + pair;
    block[line / 16 * BF16_HALF + at] = bits.x >> 16 | (bits.y & 0xffff0000u);
}
