/* SPDX-License-Identifier: MIT */
/* Products of few rows with quantised weights as they are stored: LANES items of a work-group for each row of the weight, which take PART
 * columns at a time of ROWS rows of A, and one reduction at the end. A_READS (wide_loads.cl): of A. IS_GATED: a second weight of the same
 * type, and c = f(alpha a b + bias) * (a gate) without a residual. */
#include "wide_loads.cl"
#include "weight_blocks.cl"
#include "gemm_common.cl"
#include "unroll.cl"
#include "group.cl"

#if !defined(ROWS) || !defined(WG) || !defined(LANES) || !defined(A_READS) || !defined(IS_GATED) || !defined(IS_UNROLLED)
#error "ROWS: 1 to 16; LANES: a power of two from ROWS to WG; A_READS: ELEMENTS, [ALIGNED_]VECTORS; IS_GATED, IS_UNROLLED: 0 or 1"
#endif

#define PART 8 /* of one factor and minimum */
#define SUMS (ROWS * (1 + IS_GATED)) /* those of the gate follow */
#define START_ROW(i) START_SUM(i) WITH_GATE(START_SUM(ROWS + i))
#define START_SUM(i) sum[i] = 0.0f;
#if IS_GATED
#define WITH_GATE(text) text
#else
#define WITH_GATE(text)
#endif
#if A_READS == ELEMENTS
#define READ_FOUR(j)                                                                                                  \
    (float4)(LOAD_A(from, (j) * a_k_stride), LOAD_A(from, (j + 1) * a_k_stride), LOAD_A(from, (j + 2) * a_k_stride),  \
             LOAD_A(from, (j + 3) * a_k_stride))
#else
#define READ_FOUR(j) FOUR(load_f32, from + (j), A_READS)
#endif
#define ADD_EIGHT(total, eight)                                                                  \
    total = first.x * eight.even.x + (first.y * eight.odd.x +                                    \
            (first.z * eight.even.y + (first.w * eight.odd.y + total)));                         \
    total = second.x * eight.even.z + (second.y * eight.odd.z +                                  \
            (second.z * eight.even.w + (second.w * eight.odd.w + total)));
#define ADD_PRODUCT(i)                                            \
    {                                                             \
        const float4 first = READ_FOUR(0), second = READ_FOUR(4); \
        ADD_EIGHT(sum[i], w)                                      \
        WITH_GATE(ADD_EIGHT(sum[ROWS + i], g))                    \
        from += a_row_stride;                                     \
    }
#define KEEP_PARTIAL(i) KEEP_SUM(i) WITH_GATE(KEEP_SUM(ROWS + i))
#define KEEP_SUM(i) partial[(i) * WG + item] = sum[i];
#define FOLD(i) FOLD_SUM(i) WITH_GATE(FOLD_SUM(ROWS + i))
#define FOLD_SUM(i) partial[(i) * WG + item] += partial[(i) * WG + item + half_size];

/* Weights p to p + PART - 1 of a row as floats. */
typedef struct eight_weights {
    float4 even, odd;
} eight_weights;

inline eight_weights weights_of(__global const uchar *row, uint p)
{
    __global const uchar *block = row + (long)(p / BLOCK_WEIGHTS) * BLOCK_BYTES;
    const uint e = p & (BLOCK_WEIGHTS - 1);
    const float factor = block_factor(block, e), minimum = block_minimum(block, e);
    int4 even_integers, odd_integers;
    eight_integers(block, e, &even_integers, &odd_integers);
    eight_weights w;
    w.even = convert_float4(even_integers - ZERO) * factor - minimum;
    w.odd = convert_float4(odd_integers - ZERO) * factor - minimum;
    return w;
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void gemm_blocks(GROUP_PARAMETERS int m, int n, int k, __global const A_T *restrict a, long a_offset, long a_row_stride, long a_k_stride,
                 __global const uchar *restrict b, long b_offset, __global const uchar *restrict gate, long gate_offset, long row_bytes,
                 RESULT_PARAMETERS)
{
    LOCAL_ARRAY(float, partial, SUMS * WG, 0)
    const int item = (int)get_local_id(0), lane = item & (LANES - 1), first_row = min((int)get_group_id(1) * ROWS, m - ROWS);
    const int column = (int)get_group_id(0) * (WG / LANES) + item / LANES; /* of the result */
    const uint batch = 0;
    float sum[SUMS];
    b += b_offset + min(column, n - 1) * row_bytes;
    gate += gate_offset + min(column, n - 1) * row_bytes;
    a += a_offset + first_row * a_row_stride;
    EACH_ROW(START_ROW)
#if IS_UNROLLED
#pragma unroll 4 /* so many loads under way */
#endif
    for (int p = PART * lane; p < k; p += PART * LANES) {
        const eight_weights w = weights_of(b, (uint)p);
        WITH_GATE(const eight_weights g = weights_of(gate, (uint)p);)
        __global const A_T *from = a + p * a_k_stride;
        EACH_ROW(ADD_PRODUCT)
    }
    EACH_ROW(KEEP_PARTIAL)
    for (int half_size = LANES / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_size) {
            EACH_ROW(FOLD)
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < ROWS && column < n) {
        const float bias_value = HAS_BIAS ? bias[bias_offset + column] : 0.0f;
        float value = FINISH(partial[lane * WG + item - lane], bias_value);
#if IS_GATED
        value *= partial[(ROWS + lane) * WG + item - lane];
#endif
        STORE_C(c, C_ROW(batch, first_row + lane) + C_COLUMN(column),
                ADD_RESIDUAL(value, R_ROW(batch, first_row + lane) + column * r_column_stride));
    }
}
