/* SPDX-License-Identifier: MIT */
/* A probe of a CPU's unit for bfloat16 numbers: each group multiplies an A [16, 32] by a B [32, 16]. x: the rows of A, then the columns of
 * B. y: the results by rows. The unit gets blocks of 32 lines, in which the numbers stand twice, and all four products must be equal: a
 * result is NaN if they are not. */
#include "bf16_lines.cl"

#define K 32

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void probe_bf16(__global const float *restrict x, __global float *restrict y)
{
    uint a[BF16_PART] __attribute__((aligned(64))), b[BF16_PART] __attribute__((aligned(64)));
    float sums[BF16_LINES * BF16_LINES] __attribute__((aligned(64)));
    x += get_group_id(0) * 2 * 16 * K;
    for (int line = 0; line < BF16_LINES; line++)
        for (int pair = 0; pair < K / 2; pair++) {
            put_pair(a, line, pair, vload2(pair, x + line % 16 * K), false);
            put_pair(b, line, pair, vload2(pair, x + (16 + line % 16) * K), true);
        }
    UNIT_BEGIN(unit)
    block_products(&unit, sums, a, b, 1, BF16_LINES);
    UNIT_END
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++) {
            const float *const first = sums + row * BF16_LINES + column, *const second = first + 16 * BF16_LINES;
            const bool are_equal = first[0] == first[16] && first[0] == second[0] && first[0] == second[16];
            y[(get_group_id(0) * 16 + row) * 16 + column] = are_equal ? first[0] : NAN;
        }
}
