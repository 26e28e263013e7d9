/* SPDX-License-Identifier: MIT */
/* Unpacks bundles into panels of floats, to[column / panel][k][panel], for products of many rows. Bundles of the weight from
 * `first` on become the panels' columns from 0 on. A work-item takes one unit of a bundle. */
#include "bundle_lines.cl"
#include "item.cl"

#define LINE(j)                                                                                        \
    vector_store_f32(to + j * panel, WEIGHT(low_line(LINE_ARGUMENTS(group, fifth), j), low_scale, shift));    \
    vector_store_f32(to + (j + 16) * panel, WEIGHT(high_line(LINE_ARGUMENTS(group, fifth), j), high_scale, shift));

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void bundle_unpack(ITEM_PARAMETERS __global const uchar *from, int first, int units, int bundles, __global float *to, long to_offset,
                   int panel)
{
    const int unit = (int)get_group_id(0), column = (int)get_group_id(1) * BUNDLE, k = units * BLOCK_WEIGHTS;
    __global const uchar *source = from + ((long)min(first + (int)get_group_id(1), bundles - 1) * units + unit) * UNIT_BYTES;
    const floatv d = unit_half(source, 0);
    const int panel_index = (int)((uint)column / (uint)panel);
    to += to_offset + (long)panel_index * k * panel + (long)unit * BLOCK_WEIGHTS * panel + column - panel_index * panel;
    for (int g = 0; g < UNIT_GROUPS; g++) {
        __global const uchar *group = source + HEAD_BYTES + g * GROUP_BYTES;
#if HAS_FIFTH_BITS
        const uintv fifth = vload16(0, (__global const uint *)(group + SCALES_BYTES));
#endif
        const floatv low_scale = group_scale(d, group, 0), high_scale = group_scale(d, group, HIGH_PART);
#if HAS_SHIFT
        const floatv shift = group_shift(source, d, group);
#endif
        LINES_16(LINE)
        to += 32 * panel;
    }
}
