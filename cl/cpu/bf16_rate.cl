/* SPDX-License-Identifier: MIT */
/* Measures the rates of a CPU's unit for bfloat16 numbers and of its float32 instructions with operands in the first-level cache, by the
 * contract of cl/gpu/matrix_rate.cl. A work-item is a wave. The unit multiplies 32 numbers of k at a time: the 16 of x twice. */
#include "bf16_lines.cl"

#if BLOCKS_M != 2 || BLOCKS_N != 2 || !defined(WAVES)
#error "BLOCKS_M, BLOCKS_N: 2; WAVES: work-items of a group"
#endif

/* out [items, 16, 16], item w: the sum of the four quarters of sums[32][32], and 4 (w & mask). */
static inline void store_quarters(const float *sums, int mask, __global float *out)
{
    const uint place = (uint)get_global_id(0);
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++) {
            const float *const first = sums + row * BF16_LINES + column, *const second = first + 16 * BF16_LINES;
            out[(place * 16 + row) * 16 + column] =
                (first[0] + first[16]) + (second[0] + second[16]) + (float)(BLOCKS_M * BLOCKS_N * (int)(place & (uint)mask));
        }
}

/* x [64, 16]: the rows of two blocks A_i, then the columns of two blocks B_j. out, item w: sum over i, j of (A_i B_j rounds + (w & mask)).
 * rounds: even. */
__kernel __attribute__((reqd_work_group_size(WAVES, 1, 1)))
void matrix_rate(__global const float *restrict x, int mask, int rounds, __global float *restrict out)
{
    uint a[BF16_PART] __attribute__((aligned(64))), b[BF16_PART] __attribute__((aligned(64)));
    float sums[BF16_LINES * BF16_LINES] __attribute__((aligned(64)));
    for (int line = 0; line < BF16_LINES; line++)
        for (int pair = 0; pair < 16; pair++) {
            put_pair(a, line, pair, vload2(pair % 8, x + line * 16), false);
            put_pair(b, line, pair, vload2(pair % 8, x + (BF16_LINES + line) * 16), true);
        }
    UNIT_BEGIN(unit)
    block_products(&unit, sums, a, b, rounds / 2, BF16_LINES);
    UNIT_END
    store_quarters(sums, mask, out);
}

#define CLEAR_FLOATS(i) left[i] = right[i] = (float16)(0.0f);
#define ADD_FLOATS(i)                                       \
    left[i] = fma((float16)(own[16 * i]), b_left, left[i]); \
    right[i] = fma((float16)(own[16 * i]), b_right, right[i]);

/* The same with float32 multiply-adds, in register tiles of ROWS x 32 sums. */
__kernel __attribute__((reqd_work_group_size(WAVES, 1, 1)))
void float_rate(__global const float *restrict x, int mask, int rounds, __global float *restrict out)
{
    float a[BF16_LINES * 16] __attribute__((aligned(64))), b[16 * BF16_LINES] __attribute__((aligned(64)));
    float sums[BF16_LINES * BF16_LINES] __attribute__((aligned(64)));
    for (int line = 0; line < BF16_LINES; line++)
        for (int p = 0; p < 16; p++) {
            a[line * 16 + p] = x[line * 16 + p];
            b[p * BF16_LINES + line] = x[(BF16_LINES + line) * 16 + p];
        }
    for (int row = 0; row < BF16_LINES; row += ROWS) {
        float16 left[ROWS], right[ROWS];
        EACH_ROW(CLEAR_FLOATS)
        for (int round = 0; round < rounds; round++)
            __attribute__((opencl_unroll_hint(1)))
            for (int p = 0; p < 16; p++) {
                const float *const own = a + row * 16 + p;
                const float16 b_left = vload16(2 * p, b), b_right = vload16(2 * p + 1, b);
                EACH_ROW(ADD_FLOATS)
            }
        for (int i = 0; i < ROWS; i++) {
            vstore16(left[i], 2 * (row + i), sums);
            vstore16(right[i], 2 * (row + i) + 1, sums);
        }
    }
    store_quarters(sums, mask, out);
}
