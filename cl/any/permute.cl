/* SPDX-License-Identifier: MIT */
/* Permutations that exchange the contiguous axis: out[outer, p, q] = in[outer, q, p] with p contiguous in `in` and q contiguous in `out`.
 *   permute_vector   for CPU devices: WIDTH x WIDTH tiles in registers, whole lines read and written
 *   permute_group    TILE x TILE elements through local memory, so that neighbouring work-items read and write neighbouring elements */
#ifndef OUTER_RANK
#error "OUTER_RANK: number of the other axes; IN_T, LOAD_IN, OUT_T, STORE_OUT: storage types"
#endif
#ifndef IS_GROUP
#error "IS_GROUP: 1 builds permute_group, 0 permute_vector"
#endif
#if IS_GROUP
#include "types.cl"
#else
#include "transpose.cl"
#endif

/* Sizes of the outer axes, then their strides in `in`, then in `out`. */
typedef struct {
    long value[OUTER_RANK > 0 ? 3 * OUTER_RANK : 1];
} outer_axes;

#define FIND_OUTER(index)                                          \
    for (int d = OUTER_RANK - 1; d >= 0; d--) {                    \
        const uint next = index / (uint)outer.value[d];            \
        const uint digit = index - next * (uint)outer.value[d];    \
        in += digit * outer.value[OUTER_RANK + d];                 \
        out += digit * outer.value[2 * OUTER_RANK + d];            \
        index = next;                                              \
    }

#if IS_GROUP
#define TILE 32
#define TILE_ROWS 8 /* work-items of a column of the tile */

__kernel __attribute__((reqd_work_group_size(TILE, TILE_ROWS, 1))) void permute_group(
    __global const IN_T *restrict in, long in_offset, __global OUT_T *restrict out, long out_offset, outer_axes outer, int p_size,
    int q_size, long q_stride, long p_stride)
{
    __local float tile[TILE][TILE + 1]; /* odd rows: columns start in different banks */
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

#else
#define LOAD_ROW(i, s) r[i] = PASTE(vector_, LOAD_IN)(in + p + (q + i) * q_stride);
#define STORE_ROW(i, s) PASTE(vector_, STORE_OUT)(out + (p + i) * p_stride + q, r[i]);

/* A work-item moves WIDTH q by p_run p. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void permute_vector(
    __global const IN_T *restrict in, long in_offset, __global OUT_T *restrict out, long out_offset, outer_axes outer, int p_size,
    int q_size, long q_stride, long p_stride, int p_run)
{
    const int q = (int)get_group_id(1) * WIDTH, q_end = min(q_size, q + WIDTH);
    int p = (int)get_group_id(0) * p_run;
    const int p_end = min(p_size, p + p_run);
    uint index = (uint)get_group_id(2);
    in += in_offset;
    out += out_offset;
    FIND_OUTER(index)
    if (q + WIDTH == q_end)
        for (; p + WIDTH <= p_end; p += WIDTH) {
            floatv r[WIDTH];
            EACH_LANE(LOAD_ROW)
            transpose(r);
            EACH_LANE(STORE_ROW)
        }
    for (; p < p_end; p++)
        for (int i = q; i < q_end; i++)
            STORE_OUT(out, p * p_stride + i, LOAD_IN(in, p + i * q_stride));
}
#endif
