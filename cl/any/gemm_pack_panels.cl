/* SPDX-License-Identifier: MIT */
/* Packs B into panels of columns, for engines of matrix products. Dimension 2 of the grid is the batch. */
#include "types.cl"
#include "gemm_batch.cl"
#include "pack_block.cl"

/* Panels of `panel` columns: to[batch][(j / panel)][p][j % panel] = from[j - first, p] for first <= j < first + rows, and 0 for
 * first + rows <= j < padded. Row r of `from` is a column of B. */
__kernel void gemm_pack_panels(int rows, int k, __global const FROM_T *restrict from, long from_offset, long row_stride, long k_stride,
                               uint4 batch_size, long4 batch_stride, __global TO_T *restrict to, long to_offset, long to_batch_stride,
                               int panel, int first, int padded)
{
    const int p_begin = (int)get_global_id(0) * BLOCK_K;
    const int column = (first / panel + (int)get_global_id(1)) * panel;
    const uint batch = (uint)get_global_id(2);
    const int p_end = min(k, p_begin + BLOCK_K);
    const int begin = max(column, first) - column;
    const int end = min(column + panel, first + rows) - column;
    const int padded_end = min(column + panel, padded) - column;
    from_offset += strided_batch_offset(batch, batch_size, batch_stride) + (column - first) * row_stride;
    to_offset += batch * to_batch_stride + (long)column * k;
    EACH_ELEMENT(j, begin, end, p, p_begin, p_end)
        STORE_TO(to, to_offset + (long)p * panel + j, LOAD_FROM(from, from_offset + j * row_stride + p * k_stride));
    for (int p = p_begin; p < p_end; p++)
        for (int j = max(begin, end); j < padded_end; j++)
            STORE_TO(to, to_offset + (long)p * panel + j, 0.0f);
}
