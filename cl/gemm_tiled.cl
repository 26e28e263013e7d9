/* SPDX-License-Identifier: MIT */
/* GEMM for any device with work-groups: SIDE x SIDE work-items with 4 x 4 results each in registers, slices of SIDE along k in local memory. Any strides and storage types; the loads run along whichever of the two indices is contiguous. The products of a slice are
 * unrolled as text, so that they do not count towards a device's limit on iterations. */
#include "types.cl"
#include "gemm_common.cl"

#if !defined(SIDE) || !defined(IS_A_K_INNER) || !defined(IS_B_K_INNER)
#error "SIDE: 8 or 16; IS_A_K_INNER, IS_B_K_INNER (the operand is contiguous in k): 0 or 1"
#endif

#define TILE (4 * SIDE)
#define SLICE SIDE
#define PITCH (TILE + 4) /* spreads the slices over the banks of local memory */

/* Work-item `local_id` loads elements local_id + SIDE^2 e, e = 0..3, of a TILE x SLICE slice. */
#if IS_A_K_INNER
#define A_LINE(element) ((element) / SLICE)
#define A_DEPTH(element) ((element) % SLICE)
#else
#define A_LINE(element) ((element) % TILE)
#define A_DEPTH(element) ((element) / TILE)
#endif
#if IS_B_K_INNER
#define B_LINE(element) ((element) / SLICE)
#define B_DEPTH(element) ((element) % SLICE)
#else
#define B_LINE(element) ((element) % TILE)
#define B_DEPTH(element) ((element) / TILE)
#endif

#define LOAD_SLICE(e)                                                                                              \
    {                                                                                                              \
        const uint element = local_id + e * SIDE * SIDE; /* unsigned: quotients by powers of two are shifts */     \
        const int row = first_row + (int)A_LINE(element), column = first_column + (int)B_LINE(element);            \
        const int pa = p + (int)A_DEPTH(element), pb = p + (int)B_DEPTH(element);                                  \
        a_slice[A_DEPTH(element) * PITCH + A_LINE(element)] =                                                      \
            row < m && pa < k ? LOAD_A(a, a_offset + row * a_row_stride + pa * a_k_stride) : 0.0f;                 \
        b_slice[B_DEPTH(element) * PITCH + B_LINE(element)] =                                                      \
            column < n && pb < k ? LOAD_B(b, b_offset + pb * b_k_stride + column * b_column_stride) : 0.0f;        \
    }

#define MULTIPLY_SLICE(d)                                           \
    {                                                               \
        const float4 av = vload4(0, a_slice + d * PITCH + y * 4);   \
        const float4 bv = vload4(0, b_slice + d * PITCH + x * 4);   \
        sum0 = av.x * bv + sum0;                                    \
        sum1 = av.y * bv + sum1;                                    \
        sum2 = av.z * bv + sum2;                                    \
        sum3 = av.w * bv + sum3;                                    \
    }

#define STORE_ONE(value, i, j)                                                                                     \
    if (row + i < m && column + j < n) {                                                                           \
        const float bias_value = HAS_BIAS ? bias[bias_offset + column + j] : 0.0f;                                 \
        STORE_C(c, C_ROW(batch, row + i) + C_COLUMN(column + j),                                                   \
                ADD_RESIDUAL(FINISH(value, bias_value), R_ROW(batch, row + i) + (column + j) * r_column_stride));  \
    }
#define STORE_FOUR(values, i)    \
    STORE_ONE(values.s0, i, 0)   \
    STORE_ONE(values.s1, i, 1)   \
    STORE_ONE(values.s2, i, 2)   \
    STORE_ONE(values.s3, i, 3)

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void gemm_tiled(
    int m, int n, int k, __global const A_T *restrict a, long a_offset, long a_row_stride, long a_k_stride, long4 a_batch_stride,
    __global const B_T *restrict b, long b_offset, long b_k_stride, long b_column_stride, long4 b_batch_stride, RESULT_PARAMETERS)
{
    __local float a_slice[SLICE * PITCH], b_slice[SLICE * PITCH];
    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    const uint local_id = (uint)(y * SIDE + x);
    const int first_column = (int)get_group_id(0) * TILE, first_row = (int)get_group_id(1) * TILE;
    const uint batch = (uint)get_group_id(2);
    a_offset += batch_offset(batch, batch_size, a_batch_stride);
    b_offset += batch_offset(batch, batch_size, b_batch_stride);

    float4 sum0 = (float4)(0.0f), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    for (int p = 0; p < k; p += SLICE) {
        LOAD_SLICE(0)
        LOAD_SLICE(1)
        LOAD_SLICE(2)
        LOAD_SLICE(3)
        barrier(CLK_LOCAL_MEM_FENCE);
        MULTIPLY_SLICE(0)
        MULTIPLY_SLICE(1)
        MULTIPLY_SLICE(2)
        MULTIPLY_SLICE(3)
        MULTIPLY_SLICE(4)
        MULTIPLY_SLICE(5)
        MULTIPLY_SLICE(6)
        MULTIPLY_SLICE(7)
#if SIDE == 16
        MULTIPLY_SLICE(8)
        MULTIPLY_SLICE(9)
        MULTIPLY_SLICE(10)
        MULTIPLY_SLICE(11)
        MULTIPLY_SLICE(12)
        MULTIPLY_SLICE(13)
        MULTIPLY_SLICE(14)
        MULTIPLY_SLICE(15)
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const int row = first_row + y * 4, column = first_column + x * 4;
    STORE_FOUR(sum0, 0)
    STORE_FOUR(sum1, 1)
    STORE_FOUR(sum2, 2)
    STORE_FOUR(sum3, 3)
}
