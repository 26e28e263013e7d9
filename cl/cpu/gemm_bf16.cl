/* SPDX-License-Identifier: MIT */
/* GEMM on a CPU's unit for bfloat16 numbers (bf16_unit.cl): both operands lie in blocks (bf16_blocks.cl). With one part for each element
 * the error is at most 2^-7 of the sum of the products' magnitudes, with two parts 2^-15.
 *
 * b has panels of 32 columns, from begin_panel up to end_panel. A work-item computes group_rows x group_panels blocks of 32 x 32 results,
 * panels fastest, so that its blocks of A stay in the first-level cache and its panels of B in the second-level cache. */
#include "vector.cl"
#include "result_parts.cl"
#include "gemm_common.cl"
#include "prefetch.cl"
#include "bf16_unit.cl"
#include "item.cl"

#if WIDTH != 16 || !defined(IS_C_VECTOR)
#error "WIDTH: 16; IS_C_VECTOR (columns of c and residual contiguous, blocks of whole vectors): 0 or 1"
#endif

/* Rows and columns of one block of results that exist. */
typedef struct block_extent {
    int row, rows, column, columns;
    uint batch;
} block_extent;

static inline void prefetch_results(block_extent at, RESULT_PARAMETERS)
{
    if (!IS_C_VECTOR || at.columns < BF16_LINES)
        return;
    for (int i = 0; i < at.rows; i++) {
        __global C_T *const row = c + C_ROW(at.batch, at.row + i);
        PREFETCH_FOR_WRITE(row + C_COLUMN(at.column));
        PREFETCH_FOR_WRITE(row + C_COLUMN(at.column + 16));
    }
}

/* Finishes and stores a block of sums. Infinite sums stay infinite: the operands' infinite numbers are NaN. */
static inline void store_results(const float *sums, block_extent at, int n, RESULT_PARAMETERS)
{
    for (int v = 0; v < 2 && 16 * v < at.columns; v++) {
        const int column = at.column + v * 16;
        const float16 bias_values = HAS_BIAS ? VECTOR_LOAD(bias + bias_offset + column) : (float16)(0.0f);
        for (int i = 0; i < at.rows; i++) {
            const float16 sum = ((__private const float16 *)(sums + i * BF16_LINES))[v];
            store_vector(FINISH(sum, bias_values), at.batch, at.row + i, column, n, RESULT_ARGUMENTS);
        }
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_bf16(
    ITEM_PARAMETERS int m, int n, int k, __global const uint *restrict a, long a_offset, long4 a_batch_stride,
    __global const uint *restrict b, long b_offset, long4 b_batch_stride, int begin_panel, int end_panel, int group_rows, int group_panels,
    RESULT_PARAMETERS)
{
    float sums[BF16_LINES * BF16_LINES] __attribute__((aligned(64)));
    const int k_blocks = (k + BF16_LINES - 1) / BF16_LINES;
    const int row_blocks = (m + BF16_LINES - 1) / BF16_LINES;
    const int first_row = (int)get_group_id(1) * group_rows, first_panel = begin_panel + (int)get_group_id(0) * group_panels;
    const int last_row = min(first_row + group_rows, row_blocks), last_panel = min(first_panel + group_panels, end_panel);
    const uint batch = (uint)get_group_id(2);
    a += a_offset + batch_offset(batch, batch_size, a_batch_stride);
    b += b_offset + batch_offset(batch, batch_size, b_batch_stride);
    UNIT_BEGIN(unit)
    for (int row = first_row; row < last_row; row++) {
        for (int panel = first_panel; panel < last_panel; panel++) {
            const block_extent at = {row * BF16_LINES, min(m - row * BF16_LINES, BF16_LINES), panel * BF16_LINES,
                                     min(n - panel * BF16_LINES, BF16_LINES), batch};
            prefetch_results(at, RESULT_ARGUMENTS);
            __global const uint *const rows = a + (long)row * k_blocks * A_STEP;
            __global const uint *const columns = b + (long)(panel - begin_panel) * k_blocks * B_STEP;
            block_products(&unit, sums, rows, columns, k_blocks, at.rows);
            store_results(sums, at, n, RESULT_ARGUMENTS);
        }
    }
    UNIT_END
}
