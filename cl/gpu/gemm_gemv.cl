/* SPDX-License-Identifier: MIT */
/* Skinny GEMM: ROWS (up to 16) rows of A against all of B, each element of B read once in its storage type. Larger m runs in blocks of
 * ROWS, the last of which starts at m - ROWS and computes some rows a second time.
 * gemm_gemv_dot: B contiguous in k (a weight as stored): a work-group per column, items along k, one reduction at the end. IS_VECTOR: A and
 * B are f32, adjacent in k, every row begins at a multiple of four elements and k is one: 16 bytes a load.
 * gemm_gemv_columns: any strides: an item per column, best where B is contiguous in n. */
#include "types.cl"
#include "gemm_common.cl"
#include "gemm_unroll.cl"

#if !defined(ROWS) || !defined(WG) || !defined(IS_VECTOR)
#error "ROWS: 1 to 16; WG: work-group size, a power of two, at least ROWS; IS_VECTOR: 0 or 1"
#endif

#define START_ROW(i) sum[i] = 0.0f;
#define ADD_PRODUCT(i)                        \
    sum[i] = LOAD_A(a, at) * bv + sum[i];     \
    at += a_row_stride;
/* One k: the rows are walked by adding the stride, which takes one address instead of ROWS. */
#define K_STEP(p)                                              \
    {                                                          \
        const float bv = LOAD_B(b, b_offset + (p) * b_k_stride); \
        long at = a_offset + (p) * a_k_stride;                 \
        EACH_ROW(ADD_PRODUCT)                                  \
    }

/* Four neighbours in k. */
#define ADD_VECTOR_PRODUCT(i)                                          \
    {                                                                  \
        const float4 av = *(__global const float4 *)((__global const float *)a + at); \
        sum[i] = av.x * bv.x + sum[i];                                 \
        sum[i] = av.y * bv.y + sum[i];                                 \
        sum[i] = av.z * bv.z + sum[i];                                 \
        sum[i] = av.w * bv.w + sum[i];                                 \
        at += a_row_stride;                                            \
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
    const int first_row = min((int)get_group_id(1) * ROWS, m - ROWS);
    const uint batch = (uint)get_group_id(2);
    a_offset += batch_offset(batch, batch_size, a_batch_stride) + first_row * a_row_stride;
    b_offset += batch_offset(batch, batch_size, b_batch_stride) + column * b_column_stride;

    float sum[ROWS];
    EACH_ROW(START_ROW)
#if IS_VECTOR
    for (int p = 4 * lane; p < k; p += 4 * WG) {
        const float4 bv = *(__global const float4 *)((__global const float *)b + b_offset + p);
        long at = a_offset + p;
        EACH_ROW(ADD_VECTOR_PRODUCT)
    }
#else
    for (int p = lane; p < k; p += WG)
        K_STEP(p)
#endif
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
    if (lane < ROWS)
        STORE_RESULT(partial[lane * WG], first_row + lane, column)
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
