/* SPDX-License-Identifier: MIT */
/* Products of few rows with quantised weights as they are stored: a work-group for each row of the weight, whose items take PART columns at
 * a time of ROWS rows of A, and one reduction at the end. A_READS (wide_loads.cl): of A. */
#include "wide_loads.cl"
#include "weight_blocks.cl"
#include "gemm_common.cl"
#include "unroll.cl"

#if !defined(ROWS) || !defined(WG) || !defined(A_READS)
#error "ROWS: 1 to 16; WG: work-group size, a power of two, at least ROWS; A_READS: ELEMENTS, or of floats VECTORS or ALIGNED_VECTORS"
#endif

#define PART 8 /* of one factor and minimum */
#define START_ROW(i) sum[i] = 0.0f;
#if A_READS == ELEMENTS
#define READ_FOUR(j)                                                                                                  \
    (float4)(LOAD_A(from, (j) * a_k_stride), LOAD_A(from, (j + 1) * a_k_stride), LOAD_A(from, (j + 2) * a_k_stride),  \
             LOAD_A(from, (j + 3) * a_k_stride))
#else
#define READ_FOUR(j) FOUR(load_f32, from + (j), A_READS)
#endif
#define ADD_PRODUCT(i)                                                                                   \
    {                                                                                                    \
        const float4 first = READ_FOUR(0), second = READ_FOUR(4);                                        \
        sum[i] = first.x * even.x + (first.y * odd.x + (first.z * even.y + (first.w * odd.y + sum[i]))); \
        sum[i] = second.x * even.z + (second.y * odd.z + (second.z * even.w + (second.w * odd.w + sum[i]))); \
        from += a_row_stride;                                                                            \
    }
#define KEEP_PARTIAL(i) partial[i * WG + lane] = sum[i];
#define FOLD(i) partial[i * WG + lane] += partial[i * WG + lane + half_size];

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void gemm_blocks(int m, int n, int k, __global const A_T *restrict a, long a_offset, long a_row_stride, long a_k_stride,
                 __global const uchar *restrict b, long b_offset, long row_bytes, RESULT_PARAMETERS)
{
    __local float partial[ROWS * WG];
    const int lane = (int)get_local_id(0), column = (int)get_group_id(0), first_row = min((int)get_group_id(1) * ROWS, m - ROWS);
    const uint batch = 0;
    float sum[ROWS];
    b += b_offset + column * row_bytes;
    a += a_offset + first_row * a_row_stride;
    EACH_ROW(START_ROW)
    for (int p = PART * lane; p < k; p += PART * WG) {
        __global const uchar *block = b + (long)((uint)p / BLOCK_WEIGHTS) * BLOCK_BYTES;
        const uint e = (uint)p & (BLOCK_WEIGHTS - 1);
        const float factor = block_factor(block, e), minimum = block_minimum(block, e);
        int4 even_integers, odd_integers;
        eight_integers(block, e, &even_integers, &odd_integers);
        const float4 even = convert_float4(even_integers - ZERO) * factor - minimum;
        const float4 odd = convert_float4(odd_integers - ZERO) * factor - minimum;
        __global const A_T *from = a + p * a_k_stride;
        EACH_ROW(ADD_PRODUCT)
    }
    EACH_ROW(KEEP_PARTIAL)
    for (int half_size = WG / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_size) {
            EACH_ROW(FOLD)
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < ROWS) {
        const float bias_value = HAS_BIAS ? bias[bias_offset + column] : 0.0f;
        STORE_C(c, C_ROW(batch, first_row + lane) + C_COLUMN(column),
                ADD_RESIDUAL(FINISH(partial[lane * WG], bias_value), R_ROW(batch, first_row + lane) + column * r_column_stride));
    }
}
