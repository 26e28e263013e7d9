/* SPDX-License-Identifier: MIT */
/* Permutations that exchange the contiguous axis, on GPUs: out[outer, p, q] = in[outer, q, p] with p contiguous in `in` and q contiguous in
 * `out`. Tiles of TILE x TILE go through local memory, so that neighbouring work-items read and write neighbouring elements. */
#include "types.cl"
#include "permute_outer.cl"

#define TILE 32
#define TILE_ROWS 8 /* work-items of a column of the tile */

__kernel __attribute__((reqd_work_group_size(TILE, TILE_ROWS, 1))) void permute_group(
    __global const IN_T *restrict in, long in_offset, __global OUT_T *restrict out, long out_offset, outer_axes outer, int p_size,
    int q_size, long q_stride, long p_stride)
{
    __local float tile[TILE][TILE + 1]; /* the pitch is odd, so that the elements of a column are in different banks */
    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    const int p_first = (int)get_group_id(0) * TILE, q_first = (int)get_group_id(1) * TILE;
    uint index = (uint)get_group_id(2);
    in += in_offset;
    out += out_offset;
    FIND_OUTER(index)
    for (int r = y; r < TILE; r += TILE_ROWS)
        if (p_first + x < p_size && q_first + r < q_size)
            tile[r][x] = LOAD_IN(in, p_first + x + (q_first + r) * q_stride);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = y; r < TILE; r += TILE_ROWS)
        if (p_first + r < p_size && q_first + x < q_size)
            STORE_OUT(out, (p_first + r) * p_stride + q_first + x, tile[x][r]);
}
