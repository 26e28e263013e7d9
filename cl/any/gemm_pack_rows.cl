/* SPDX-License-Identifier: MIT */
/* Copies an operand of a matrix product (A or a weight) into dense rows, for engines that need them.
 * Dimension 2 of the grid is the batch. */
#include "types.cl"
#include "gemm_batch.cl"
#include "pack_block.cl"

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
