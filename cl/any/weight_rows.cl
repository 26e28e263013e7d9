/* SPDX-License-Identifier: MIT */
/* Looks up rows of a quantised table as floats: y[t,:] = scale * table[id(t),:], id(t) = ids[t] (HAS_IDS) or t. An id outside the table is
 * clamped. If the table comes in pieces (IS_SPLIT), a launch writes the tokens whose rows lie in its piece. A work-item takes ITEM_COLUMNS
 * columns. */
#include "types.cl"
#include "weight_blocks.cl"
#include "item.cl"

#if !defined(HAS_IDS) || !defined(IS_SPLIT) || !defined(ITEM_COLUMNS)
#error "HAS_IDS, IS_SPLIT: 0 or 1; ITEM_COLUMNS: columns of a work-item"
#endif

__kernel void weight_rows(ITEM_PARAMETERS __global const uchar *table, long offset, long row_bytes, long rows, long first, long total,
                          __global const int *ids, long ids_offset, long ids_stride, float scale, __global Y_T *y, long y_offset,
                          long y_stride, int columns)
{
    const long t = (long)get_global_id(1);
    const int begin = (int)get_global_id(0) * ITEM_COLUMNS, end = min(begin + ITEM_COLUMNS, columns);
    const long id = HAS_IDS ? (long)ids[ids_offset + t * ids_stride] : t, row = clamp(id, 0L, total - 1) - first;
    if (IS_SPLIT && (row < 0 || row >= rows))
        return;
    __global const uchar *from = table + offset + row * row_bytes;
    for (int c = begin; c < end; c++)
        STORE_Y(y + y_offset + t * y_stride, c, row_weight(from, (uint)c) * scale);
}
