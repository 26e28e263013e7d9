/* SPDX-License-Identifier: MIT */
/* A probe of a matrix unit: each wave multiplies an A [16, 32] by a B [32, 16] and adds the second half of k to the sums of the first. x:
 * the rows of A, then the columns of B. y: the results by rows. */
#include "matrix_instruction.cl"

#define K 32

static inline uint4 pairs_at(__global const float *from)
{
    return pairs_of(vload4(0, from), vload4(0, from + SECOND_LINE * K + SECOND_T * 4));
}

__kernel WAVE_ATTRIBUTE __attribute__((reqd_work_group_size(LANES, 1, 1))) void probe_matrix(__global const float *restrict x,
                                                                                              __global float *restrict y)
{
    __local uint4 words[4 * BLOCK / 4];
    __local uint *const a = (__local uint *)words, *const b = a + 2 * BLOCK;
    WAVE_OF_ITEM(w, 1)
    x += get_group_id(0) * 2 * 16 * K;
    y += get_group_id(0) * 16 * 16;
    for (uint at = w.lane; at < 2 * 32; at += LANES) {
        const uint t = at % EIGHTS_IN_K * (1 + SECOND_T), line = at / EIGHTS_IN_K % EIGHT_LINES, k_block = at / 32;
        store_a(a + k_block * BLOCK, line, t, pairs_at(x + line * K + k_block * 16 + 4 * t));
        store_b(b + k_block * BLOCK, line, t, pairs_at(x + 16 * K + line * K + k_block * 16 + 4 * t));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sums sum;
    for (int v = 0; v < PARTS; v++)
        sum.parts[v] = 0.0f;
    for (int half_of_k = 0; half_of_k < 2; half_of_k++)
        multiply_add(w, &sum, load_a_local(a + half_of_k * BLOCK, w.lane), load_b_local(b + half_of_k * BLOCK, w.lane));
    for (uint v = 0; v < VALUES; v++)
        y[sum_row(w.lane, v) * 16 + sum_column(w.lane, v)] = sum.values[v];
}
