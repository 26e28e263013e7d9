/* SPDX-License-Identifier: MIT */
/* GEMM with few rows, for GPUs: ROWS (up to 16) rows of A times all of B, where each element of B is read once in its storage type. Larger
 * m runs in blocks of ROWS, the last of which starts at m - ROWS and computes some rows a second time.
 * gemm_gemv_dot, best where B is contiguous in k (a weight as stored): a work-group computes COLUMNS columns. Its items share out k.
 * Each item loads from all columns before it multiplies, and one reduction at the end adds the items' sums. A_READS, B_READS
 * (wide_loads.cl): with vectors, one load takes 16 bytes of B, and the last elements of k are loaded one by one.
 * gemm_gemv_columns: any strides; one item per column, best where B is contiguous in n. */
#include "wide_loads.cl"
#include "gemm_common.cl"
#include "unroll.cl"
#include "group_sums.cl"
#include "group.cl"

#if !defined(ROWS) || !defined(COLUMNS) || !defined(WG) || !defined(A_READS) || !defined(B_READS)
#error "ROWS: 1 to 16; COLUMNS: 1, 2, 4; WG: work-group size, a power of two; A_READS, B_READS: ELEMENTS or both VECTORS or ALIGNED_VECTORS"
#endif
#if SUMS != ROWS * COLUMNS
#error "SUMS: ROWS * COLUMNS"
#endif

#define START_ROW(i) sum[i] = 0.0f;
#define ADD_PRODUCT(i)                        \
    sum[i] = LOAD_A(a, at) * bv + sum[i];     \
    at += a_row_stride;
/* One step of k. Adding the row stride to one address takes fewer registers than ROWS addresses. */
#define K_STEP(p)                                              \
    {                                                          \
        const float bv = LOAD_B(b, b_offset + (p) * b_k_stride); \
        long at = a_offset + (p) * a_k_stride;                 \
        EACH_ROW(ADD_PRODUCT)                                  \
    }

#if COLUMNS == 4
#define EACH_COLUMN(F) F(0) F(1) F(2) F(3)
#elif COLUMNS == 2
#define EACH_COLUMN(F) F(0) F(1)
#else
#define EACH_COLUMN(F) F(0)
#endif

#define WIDE PASTE(WIDE_, LOAD_B)
#define START_COLUMN(j) __global const B_T *restrict const b##j = b + min(j, last_column) * b_column_stride;
#define READ_WIDE(j) const uint4 bits##j = WIDE_BITS(b##j + at, B_READS);
#define FIRST_FOUR(j) const float4 first##j = PASTE(FIRST_FOUR_, LOAD_B)(bits##j);
#define SECOND_FOUR(j) const float4 second##j = PASTE(SECOND_FOUR_, LOAD_B)(bits##j);
#define ADD_FOUR(total, values, weights)           \
    total = (values).x * (weights).x + total;      \
    total = (values).y * (weights).y + total;      \
    total = (values).z * (weights).z + total;      \
    total = (values).w * (weights).w + total;
#define ADD_FIRST(j) ADD_FOUR(sum[row * COLUMNS + j], x, first##j)
#define ADD_SECOND(j) ADD_FOUR(sum[row * COLUMNS + j], x2, second##j)
/* Adds products of one row of A, loaded once for all columns. */
#if WIDE == 8
#define ADD_WIDE(i)                                                                             \
    {                                                                                           \
        const int row = i;                                                                      \
        const float4 x = FOUR(load_f32, from, A_READS), x2 = FOUR(load_f32, from + 4, A_READS);    \
        EACH_COLUMN(ADD_FIRST)                                                                  \
        EACH_COLUMN(ADD_SECOND)                                                                 \
        from += a_row_stride;                                                                   \
    }
#else
#define ADD_WIDE(i)                                      \
    {                                                    \
        const int row = i;                               \
        const float4 x = FOUR(load_f32, from, A_READS);   \
        EACH_COLUMN(ADD_FIRST)                           \
        from += a_row_stride;                            \
    }
#endif
#define READ_ONE(j) const float w##j = LOAD_B(b##j, at * b_k_stride);
#define ADD_ONE(j) sum[row * COLUMNS + j] = x * w##j + sum[row * COLUMNS + j];
#define ADD_ELEMENT(i)                                   \
    {                                                    \
        const int row = i;                               \
        const float x = LOAD_A(from, 0);                 \
        EACH_COLUMN(ADD_ONE)                             \
        from += a_row_stride;                            \
    }

#define CLEAR_SUM(j) sum[row * COLUMNS + j] = 0.0f;
#define CLEAR_ROW(i)              \
    {                             \
        const int row = i;        \
        EACH_COLUMN(CLEAR_SUM)    \
    }
#define LEAVE_SUM(j) GROUP_SUM_LEAVE(sums, row * COLUMNS + j, sum[row * COLUMNS + j])
#define LEAVE_ROW(i)              \
    {                             \
        const int row = i;        \
        EACH_COLUMN(LEAVE_SUM)    \
    }

#define GEMV_PARAMETERS                                                                                                     \
    GROUP_PARAMETERS int m, int n, int k, __global const A_T *restrict a, long a_offset, long a_row_stride,                 \
    long a_k_stride, long4 a_batch_stride, __global const B_T *restrict b, long b_offset, long b_k_stride,                  \
    long b_column_stride, long4 b_batch_stride, RESULT_PARAMETERS

#define STORE_RESULT(value, row, column)                                                                                    \
    {                                                                                                                       \
        const float bias_value = HAS_BIAS ? bias[bias_offset + (column)] : 0.0f;                                            \
        STORE_C(c, C_ROW(batch, row) + C_COLUMN(column),                                                                    \
                ADD_RESIDUAL(FINISH(value, bias_value), R_ROW(batch, row) + (column) * r_column_stride));                   \
    }

__kernel SUBGROUP_SIZE __attribute__((reqd_work_group_size(WG, 1, 1))) void gemm_gemv_dot(GEMV_PARAMETERS)
{
    LOCAL_ARRAY(float, sums, SUM_SPACE, 0)
    const uint lane = (uint)get_local_id(0);
    const int first_column = (int)get_group_id(0) * COLUMNS, last_column = n - 1 - first_column;
    const int first_row = min((int)get_group_id(1) * ROWS, m - ROWS);
    const uint batch = (uint)get_group_id(2);
    a += a_offset + batch_offset(batch, batch_size, a_batch_stride) + first_row * a_row_stride;
    b += b_offset + batch_offset(batch, batch_size, b_batch_stride) + first_column * b_column_stride;
    EACH_COLUMN(START_COLUMN)

    float sum[SUMS];
    EACH_ROW(CLEAR_ROW)
    uint done = 0;
#if B_READS != ELEMENTS
    done = (uint)k & ~(WIDE - 1u);
    for (uint at = WIDE * lane; at < done; at += WIDE * WG) {
        EACH_COLUMN(READ_WIDE)
        EACH_COLUMN(FIRST_FOUR)
#if WIDE == 8
        EACH_COLUMN(SECOND_FOUR)
#endif
        __global const A_T *restrict from = a + at;
        EACH_ROW(ADD_WIDE)
    }
#endif
    for (uint at = done + lane; at < (uint)k; at += WG) {
        EACH_COLUMN(READ_ONE)
        __global const A_T *restrict from = a + at * a_k_stride;
        EACH_ROW(ADD_ELEMENT)
    }
    EACH_ROW(LEAVE_ROW)
    group_sums_meet(sums);
    for (uint i = lane; i < SUMS; i += WG) {
        const int row = first_row + (int)(i / COLUMNS), column = first_column + (int)(i % COLUMNS);
        if (column < n)
            STORE_RESULT(group_sum_take(sums, i), row, column)
    }
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void gemm_gemv_columns(GEMV_PARAMETERS)
{
    const int column = (int)get_global_id(0);
    const int first_row = min((int)get_group_id(1) * ROWS, m - ROWS);
    const uint batch = (uint)get_group_id(2);
    if (column >= n)
        return;
    a_offset += batch_offset(batch, batch_size, a_batch_stride) + first_row * a_row_stride;
    b_offset += batch_offset(batch, batch_size, b_batch_stride) + column * b_column_stride;

    float sum[ROWS];
    EACH_ROW(START_ROW)
    int p = 0;
    for (; p + 2 <= k; p += 2) {
        K_STEP(p)
        K_STEP(p + 1)
    }
    if (p < k)
        K_STEP(p)
#define STORE_ROW(i) STORE_RESULT(sum[i], first_row + i, column)
    EACH_ROW(STORE_ROW)
}
