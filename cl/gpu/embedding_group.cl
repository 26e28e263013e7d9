/* SPDX-License-Identifier: MIT */
/* Embedding lookup for GPUs: a work-item takes one column of a token. */
#include "embedding_rows.cl"
#include "group.cl"

#ifndef WG
#error "WG: work-group size"
#endif

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void embedding_group(GROUP_PARAMETERS __global const TABLE0_T *table0, __global const int *ids0, table_layout layout0,
                     __global const TABLE1_T *table1, __global const int *ids1, table_layout layout1, __global const TABLE2_T *table2,
                     __global const int *ids2, table_layout layout2, float scale, __global Y_T *y, long y_offset, long y_stride,
                     int columns)
{
    const int c = (int)get_global_id(0);
    const long t = (long)get_group_id(1);
    if (IS_SPLIT && !IS_HELD(t))
        return;
    const table_rows rows = TABLE_ROWS(t);
    if (c < columns)
        STORE_Y(y + y_offset + t * y_stride, c, sum_column(&rows, c, scale));
}
