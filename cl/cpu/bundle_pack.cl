/* SPDX-License-Identifier: MIT */
/* Packs rows of stored blocks into bundles, as rows first .. first + rows - 1 of the weight. A work-item packs the rows of one bundle.
 * Lanes after the last row repeat it until the next part of the weight overwrites them. */
#include "weight_bundles.cl"

inline void pack_group(__global const uchar *block, uint group, int lane, __global uchar *to)
{
    const uint e = 32 * group;
#if HAS_GROUPS
    to[lane] = (uchar)block_scale(block, e);
    to[BUNDLE + lane] = (uchar)(HAS_MINIMUM ? block_offset(block, e) : block_scale(block, e + 16));
    to += SCALES_BYTES;
#endif
#if HAS_FIFTH_BITS
    uint bits = 0;
    for (uint j = 0; j < 32; j++)
        bits |= ((uint)block_integer(block, e + j) >> 4) << j;
    ((__global uint *)to)[lane] = bits;
    to += FIFTH_BYTES;
#endif
#if IS_BYTES
    for (uint j = 0; j < 32; j++)
        to[LINE_BYTE(j, lane)] = (uchar)(block_integer(block, e + j) - ZERO);
#elif HAS_GROUPS
    for (uint j = 0; j < 16; j++)
        to[LINE_BYTE(j, lane)] = (uchar)((block_integer(block, e + j) & 15) | (block_integer(block, e + j + 16) & 15) << 4);
#else
    for (uint j = 0; j < 16; j++)
        to[LINE_BYTE(j, lane)] = block[NIBBLES_AT + j];
#endif
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void bundle_pack(int rows, int units, __global const uchar *from, long from_offset, long row_bytes, __global uchar *to, int first)
{
    const int bundle = (int)((uint)first / BUNDLE) + (int)get_group_id(0);
    const int begin = max(0, first - bundle * BUNDLE);
    for (int unit = 0; unit < units; unit++) {
        __global uchar *target = to + ((long)bundle * units + unit) * UNIT_BYTES;
        for (int lane = begin; lane < BUNDLE; lane++) {
            const int row = min(bundle * BUNDLE + lane - first, rows - 1);
            __global const uchar *block = from + from_offset + row * row_bytes + (long)unit * BLOCK_BYTES;
            __global ushort *head = (__global ushort *)target;
            head[lane] = *(__global const ushort *)(block + SCALE_AT);
#if HAS_MINIMUM
            head[BUNDLE + lane] = *(__global const ushort *)(block + 2);
#endif
            for (uint group = 0; group < UNIT_GROUPS; group++)
                pack_group(block, group, lane, target + HEAD_BYTES + group * GROUP_BYTES);
        }
    }
}
