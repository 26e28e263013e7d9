/* SPDX-License-Identifier: MIT */
/* Measures the rate of a matrix unit with operands in registers: a wave keeps BLOCKS_M x BLOCKS_N blocks of sums and adds the products of
 * the same fragments to them again and again. The numbers are small integers, so every sum is exact in any order and under any rounding. */
#include "matrix_instruction.cl"

#if !defined(WAVES) || !defined(BLOCKS_M) || !defined(BLOCKS_N)
#error "WAVES: of a work-group; BLOCKS_M, BLOCKS_N: blocks of a wave's results, down and across"
#endif

#define GROUP (WAVES * LANES)
#define LINES ((BLOCKS_M + BLOCKS_N) * 16)
#define EACH_BLOCK                            \
    UNROLL for (int j = 0; j < BLOCKS_N; j++) \
        UNROLL for (int i = 0; i < BLOCKS_M; i++)

/* x [LINES, 16]: the rows of the blocks A_i, then the columns of the blocks B_j. out [waves, 16, 16], wave w:
 * sum over i, j of (A_i B_j rounds + (w & mask)). */
__kernel WAVE_ATTRIBUTE __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void matrix_rate(__global const float *restrict x, int mask, int rounds, __global float *restrict out)
{
    __local uint4 words[LINES / 16 * BLOCK / 4];
    __local uint *const blocks = (__local uint *)words;
    WAVE_OF_ITEM(w, WAVES)
    const uint place = (uint)get_group_id(0) * WAVES + w.index;
    for (uint at = (uint)get_local_id(0); at < LINES * 2; at += GROUP) {
        const uint block = at / 32, t = at % EIGHTS_IN_K * (1 + SECOND_T), line = at % 32 / EIGHTS_IN_K;
        __global const float *const from = x + (block * 16 + line) * 16 + 4 * t;
        const uint4 pairs = pairs_of(vload4(0, from), vload4(0, from + SECOND_LINE * 16 + SECOND_T * 4));
        if (block < BLOCKS_M)
            store_a(blocks + block * BLOCK, line, t, pairs);
        else
            store_b(blocks + block * BLOCK, line, t, pairs);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    fragment a[BLOCKS_M], b[BLOCKS_N];
    sums sum[BLOCKS_M][BLOCKS_N];
    UNROLL for (int i = 0; i < BLOCKS_M; i++) a[i] = load_a_local(blocks + i * BLOCK, w.lane);
    UNROLL for (int j = 0; j < BLOCKS_N; j++) b[j] = load_b_local(blocks + (BLOCKS_M + j) * BLOCK, w.lane);
    EACH_BLOCK UNROLL for (int v = 0; v < PARTS; v++) sum[i][j].parts[v] = (float)(place & (uint)mask);
#pragma unroll 1
    for (int round = 0; round < rounds; round++)
        EACH_BLOCK multiply_add(w, &sum[i][j], a[i], b[j]);
    UNROLL for (uint v = 0; v < VALUES; v++)
    {
        float total = 0.0f;
        EACH_BLOCK total += sum[i][j].values[v];
        out[(place * 16 + sum_row(w.lane, v)) * 16 + sum_column(w.lane, v)] = total;
    }
}
