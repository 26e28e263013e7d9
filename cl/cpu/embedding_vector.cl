/* SPDX-License-Identifier: MIT */
/* Embedding lookup for CPU devices: one work-item takes tokens_per_item tokens with vectors of WIDTH floats. */
#include "vector.cl"
#include "embedding_rows.cl"
#include "item.cl"

static inline floatv sum_columns(const table_rows *rows, int c, float scale)
{
    floatv sum = PASTE(vector_, LOAD_TABLE0)(rows->row0 + c) * scale;
#if TERMS > 1
    sum += PASTE(vector_, LOAD_TABLE1)(rows->row1 + c);
#endif
#if TERMS > 2
    sum += PASTE(vector_, LOAD_TABLE2)(rows->row2 + c);
#endif
    return sum;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void embedding_vector(ITEM_PARAMETERS __global const TABLE0_T *table0, __global const int *ids0, table_layout layout0,
                      __global const TABLE1_T *table1, __global const int *ids1, table_layout layout1, __global const TABLE2_T *table2,
                      __global const int *ids2, table_layout layout2, float scale, __global Y_T *y, long y_offset, long y_stride,
                      long tokens, int tokens_per_item, int columns)
{
    const long first = (long)get_group_id(0) * tokens_per_item;
    const long end = min(first + tokens_per_item, tokens);
    for (long t = first; t < end; t++) {
        if (IS_SPLIT && !IS_HELD(t))
            continue;
        const table_rows rows = TABLE_ROWS(t);
        __global Y_T *row = y + y_offset + t * y_stride;
        int c = 0;
        for (; c <= columns - WIDTH; c += WIDTH)
            PASTE(vector_, STORE_Y)(row + c, sum_columns(&rows, c, scale));
        for (; c < columns; c++)
            STORE_Y(row, c, sum_column(&rows, c, scale));
    }
}
