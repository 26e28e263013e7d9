/* SPDX-License-Identifier: MIT */
/* B for gemm_matrix.cl with B_FRAGMENTS: to[batch][column block][k block][part][BLOCK], zeros beyond n and k. A group of 32 items writes a
 * block; k blocks in dimension 0, column blocks in 1, batches in 2. */
#include "matrix_unit.cl"
#include "gemm_batch.cl"

#if !defined(B_PARTS) || !defined(IS_B_K_INNER)
#error "B_PARTS: 1 or 2; IS_B_K_INNER: 0 or 1"
#endif

static inline float4 four_at(__global const B_T *b, int column, int depth, int n, int k, long k_stride, long column_stride)
{
    const int here = column < n ? k - depth : 0;
    b += column * column_stride + depth * k_stride;
    return (float4)(here > 0 ? LOAD_B(b, 0) : 0.0f, here > 1 ? LOAD_B(b, k_stride) : 0.0f, here > 2 ? LOAD_B(b, 2 * k_stride) : 0.0f,
                    here > 3 ? LOAD_B(b, 3 * k_stride) : 0.0f);
}

__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void gemm_matrix_pack(
    int n, int k, __global const B_T *restrict b, long b_offset, long k_stride, long column_stride, uint4 batch_size, long4 batch_stride,
    __global uint *restrict to, long to_offset, long to_batch_stride)
{
    const uint item = (uint)get_local_id(0), line = IS_B_K_INNER ? item / EIGHTS_IN_K : item % EIGHT_LINES;
    const uint t = (IS_B_K_INNER ? item % EIGHTS_IN_K : item / EIGHT_LINES) * (1 + SECOND_T), batch = (uint)get_global_id(2);
    const int column = (int)get_group_id(1) * 16 + (int)line, depth = (int)get_group_id(0) * 16 + 4 * (int)t;
    b += b_offset + strided_batch_offset(batch, batch_size, batch_stride);
    const float4 first = four_at(b, column, depth, n, k, k_stride, column_stride);
    const float4 second = four_at(b, column + SECOND_LINE, depth + 4 * SECOND_T, n, k, k_stride, column_stride);
    to += to_offset + batch * to_batch_stride + ((long)get_group_id(1) * get_num_groups(0) + get_group_id(0)) * (B_PARTS * BLOCK);
    const uint4 pairs = pairs_of(first, second);
    store_b_global(to, line, t, pairs);
    if (B_PARTS == 2)
        store_b_global(to + BLOCK, line, t, rests_of(pairs, first, second));
}
