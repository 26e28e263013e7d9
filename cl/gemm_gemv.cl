/* SPDX-License-Identifier: MIT */
/* Skinny GEMM: ROWS (up to 16) rows of A against all of B, each element of B read once in its storage type. Larger m runs in blocks of ROWS.
 * gemm_gemv_dot: B contiguous in k (a weight as stored): a work-group per column, items along k, one reduction at the end.
 * gemm_gemv_columns: any strides: an item per column, best where B is contiguous in n. */
#include "types.cl"
#include "gemm_common.cl"

#if !defined(ROWS) || !defined(WG)
#error "ROWS: 1, 2, 4, 8 or 16; WG: work-group size, a power of two, at least ROWS"
#endif

#define ROWS_1(F) F(0)
#define ROWS_2(F) ROWS_1(F) F(1)
#define ROWS_4(F) ROWS_2(F) F(2) F(3)
#define ROWS_8(F) ROWS_4(F) F(4) F(5) F(6) F(7)
#define ROWS_16(F) ROWS_8(F) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
#define EACH_ROW(F) PASTE(ROWS_, ROWS)(F)

/* Rows past m read the last row; their sums are dropped. */
#define START_ROW(i)                                                                   \
    sum[i] = 0.0f;                                                                     \
    const long a_row##i = a_offset + min(first_row + i, m - 1) * a_row_stride;
#define ADD_PRODUCT(i) sum[i] = LOAD_A(a, a_row##i + p * a_k_stride) * bv + sum[i];

#define COLUMN_STEP                                              \
    {                                                            \
        const float bv = LOAD_B(b, b_offset + p * b_k_stride);   \
        EACH_ROW(ADD_PRODUCT)                                    \
        p++;                                                     \
    }

#define GEMV_PARAMETERS                                                                                                     \
    int m, int n, int k, __global const A_T *restrict a, long a_offset, long a_row_stride, long a_k_stride,                 \
    long4 a_batch_stride, __global const B_T *restrict b, long b_offset, long b_k_stride, long b_column_stride,             \
    long4 b_batch_stride, RESULT_PARAMETERS

#define STORE_RESULT(value, row, column)                                                                                    \
    {                                                                                                                       \
        const float bias_value = HAS_BIAS ? bias[bias_offset + (column)] : 0.0f;                                            \
        STORE_C(c, C_ROW(batch, row) + C_COLUMN(column),                                                                    \
                ADD_RESIDUAL(FINISH(value, bias_value), R_ROW(batch, row) + (column) * r_column_stride));                   \
    }

__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void gemm_gemv_dot(GEMV_PARAMETERS)
{
    __local float partial[ROWS * WG];
    const int lane = (int)get_local_id(0);
    const int column = (int)get_group_id(0);
    const int first_row = (int)get_group_id(1) * ROWS;
    const uint batch = (uint)get_group_id(2);
    a_offset += batch_offset(batch, batch_size, a_batch_stride);
    b_offset += batch_offset(batch, batch_size, b_batch_stride) + column * b_column_stride;

    float sum[ROWS];
    EACH_ROW(START_ROW)
    for (int p = lane; p < k; p += WG) {
        const float bv = LOAD_B(b, b_offset + p * b_k_stride);
        EACH_ROW(ADD_PRODUCT)
    }
#define KEEP_PARTIAL(i) partial[i * WG + lane] = sum[i];
    EACH_ROW(KEEP_PARTIAL)
    for (int half_size = WG / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_size) {
#define FOLD(i) partial[i * WG + lane] += partial[i * WG + lane + half_size];
            EACH_ROW(FOLD)
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int row = first_row + lane;
    if (lane < ROWS && row < m)
        STORE_RESULT(partial[lane * WG], row, column)
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void gemm_gemv_columns(GEMV_PARAMETERS)
{
    const int column = (int)get_global_id(0);
    const int first_row = (int)get_group_id(1) * ROWS;
    const uint batch = (uint)get_group_id(2);
    if (column >= n)
        return;
    a_offset += batch_offset(batch, batch_size, a_batch_stride);
    b_offset += batch_offset(batch, batch_size, b_batch_stride) + column * b_column_stride;

    float sum[ROWS];
    EACH_ROW(START_ROW)
    int p = 0;
    while (p + 2 <= k) {
        COLUMN_STEP
        COLUMN_STEP
    }
    if (p < k)
        COLUMN_STEP
#define STORE_IF(i)        \
    if (first_row + i < m) \
        STORE_RESULT(sum[i], first_row + i, column)
    EACH_ROW(STORE_IF)
}
