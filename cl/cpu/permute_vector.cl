/* SPDX-License-Identifier: MIT */
/* Permutations that exchange the contiguous axis, on CPUs: out[outer, p, q] = in[outer, q, p] with p contiguous in `in` and q contiguous in
 * `out`. Tiles of WIDTH x WIDTH are in registers, and whole lines are read and written. */
#include "transpose.cl"
#include "permute_outer.cl"

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
