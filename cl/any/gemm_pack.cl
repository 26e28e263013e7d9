/* SPDX-License-Identifier: MIT */
/* Operands into the forms that engines want: panels for B, dense rows for A or a weight, a zero-padded f32 bias. One work-item moves a
 * block of BLOCK_ROWS x BLOCK_K elements (large for CPU devices, 1 x 1 where work-items are many). Batches in the third dimension. */
#include "types.cl"
#include "gemm_batch.cl"

#if !defined(BLOCK_ROWS) || !defined(BLOCK_K) || !defined(IS_K_INNER)
#error "BLOCK_ROWS, BLOCK_K: elements of a work-item; IS_K_INNER (the source is contiguous in k): 0 or 1"
#endif

#if IS_K_INNER
#define EACH_ELEMENT(r, r_begin, r_end, p, p_begin, p_end) \
    for (int r = r_begin; r < r_end; r++)                  \
        for (int p = p_begin; p < p_end; p++)
#else
#define EACH_ELEMENT(r, r_begin, r_end, p, p_begin, p_end) \
    for (int p = p_begin; p < p_end; p++)                  \
        for (int r = r_begin; r < r_end; r++)
#endif

/* to[batch][(first + r) * k + p] = from[r, p] for r < rows; to is dense. */
__kernel void gemm_pack_rows(int rows, int k, __global const FROM_T *restrict from, long from_offset, long row_stride, long k_stride,
                             uint4 batch_size, long4 batch_stride, __global TO_T *restrict to, long to_offset, long to_batch_stride)
{
    const int p_begin = (int)get_global_id(0) * BLOCK_K;
    const int r_begin = (int)get_global_id(1) * BLOCK_ROWS;
    const uint batch = (uint)get_global_id(2);
    const int p_end = min(k, p_begin + BLOCK_K);
    const int r_end = min(rows, r_begin + BLOCK_ROWS);
    from_offset += strided_batch_offset(batch, batch_size, batch_stride);
    to_offset += batch * to_batch_stride;
    EACH_ELEMENT(r, r_begin, r_end, p, p_begin, p_end)
        STORE_TO(to, to_offset + (long)r * k + p, LOAD_FROM(from, from_offset + r * row_stride + p * k_stride));
}

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

/* to[first + i] = from[i] for i < count, 0 for count <= i < padded. */
__kernel void gemm_pack_bias(int count, int padded, __global const FROM_T *restrict from, long from_offset, long stride,
                             __global float *restrict to, long to_offset)
{
    const int i = (int)get_global_id(0);
    if (i < padded)
        to[to_offset + i] = i < count ? LOAD_FROM(from, from_offset + i * stride) : 0.0f;
}
