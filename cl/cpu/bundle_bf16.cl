/* SPDX-License-Identifier: MIT */
/* Expands quantised weights in bundles (weight_bundles.cl) into blocks of bfloat16 numbers (bf16_blocks.cl), as B of a product. A vector of
 * a bundle is one k of 16 columns of B, which is the order of B's blocks. */
#include "bundle_lines.cl"
#include "bf16_blocks.cl"
#include "item.cl"

#if !defined(PARTS)
#error "PARTS: 1 or 2"
#endif

#define LOW_WEIGHT(j) WEIGHT(low_line(LINE_ARGUMENTS(group, fifth), j), low_scale, shift)
#define HIGH_WEIGHT(j) WEIGHT(high_line(LINE_ARGUMENTS(group, fifth), j), high_scale, shift)

/* Stores the pair of x and y, neighbours in k of 16 columns. */
static inline void store_pair(float16 x, float16 y, __global uint *to)
{
    for (int part = 0; part < PARTS; part++, to += BF16_PART) {
        const float16 first = nearest_bf16(x), second = nearest_bf16(y);
        vstore16(as_uint16(first) >> 16 | as_uint16(second), 0, to);
        x -= first;
        y -= second;
    }
}

static inline void expand_group(__global const uchar *unit, int g, __global uint *to)
{
    __global const uchar *const group = unit + HEAD_BYTES + g * GROUP_BYTES;
    const float16 d = unit_half(unit, 0);
    const float16 low_scale = group_scale(d, group, 0), high_scale = group_scale(d, group, HIGH_PART);
#if HAS_SHIFT
    const float16 shift = group_shift(unit, d, group);
#endif
#if HAS_FIFTH_BITS
    const uint16 fifth = vload16(0, (__global const uint *)(group + SCALES_BYTES));
#endif
    for (uint pair = 0; pair < 8; pair++) {
        store_pair(LOW_WEIGHT(2 * pair), LOW_WEIGHT(2 * pair + 1), to + pair * 16);
        store_pair(HIGH_WEIGHT(2 * pair), HIGH_WEIGHT(2 * pair + 1), to + (8 + pair) * 16);
    }
}

/* Bundles first, first + 1, ... of `bundles`, an item each; those beyond the last one are 0. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void bundle_bf16(ITEM_PARAMETERS int bundles, int k, int first, __global const uchar *restrict b, __global uint *restrict to,
                 long to_offset)
{
    const int place = (int)get_group_id(0), bundle = first + place, groups = k / BF16_LINES;
    __global const uchar *unit = b + (long)bundle * (k / BLOCK_WEIGHTS) * UNIT_BYTES;
    to += to_offset + (long)(place / 2) * groups * (PARTS * BF16_PART) + place % 2 * BF16_HALF;
    for (int group = 0; group < groups; group++, to += PARTS * BF16_PART) {
        if (bundle < bundles) {
            expand_group(unit + (long)(group / UNIT_GROUPS) * UNIT_BYTES, group % UNIT_GROUPS, to);
            continue;
        }
        for (int part = 0; part < PARTS; part++)
            for (int i = 0; i < BF16_HALF; i++)
                to[part * BF16_PART + i] = 0;
    }
}
