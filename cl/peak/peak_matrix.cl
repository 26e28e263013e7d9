/* SPDX-License-Identifier: MIT */
/* Products of a matrix unit from registers: every wave keeps 4 x 2 blocks of sums. */
#include "matrix_instruction.cl"

/* out[item] = the sum of an item's results. Each round of a wave is 8 products of blocks of 16 x 16 x 16 numbers. x: 6 blocks. */
__kernel WAVE_ATTRIBUTE __attribute__((reqd_work_group_size(WG, 1, 1))) void peak_matrix(__global const uint *restrict x, int rounds,
                                                                                           __global float *restrict out)
{
    const wave w = wave_of_item(0);
    fragment a[4], b[2];
    sums sum[4][2];
#pragma unroll
    for (int i = 0; i < 4; i++)
        a[i] = load_b_global(x + i * BLOCK, w.lane);
#pragma unroll
    for (int j = 0; j < 2; j++)
        b[j] = load_b_global(x + (4 + j) * BLOCK, w.lane);
#pragma unroll
    for (int i = 0; i < 8 * PARTS; i++)
        sum[i / PARTS / 2][i / PARTS % 2].parts[i % PARTS] = 0.0f;
#pragma unroll 1
    for (int round = 0; round < rounds; round++)
#pragma unroll
        for (int j = 0; j < 2; j++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                multiply_add(w, &sum[i][j], a[i], b[j]);
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < 8 * VALUES; i++)
        total += sum[i / VALUES / 2][i / VALUES % 2].values[i % VALUES];
    out[get_global_id(0)] = total;
}
