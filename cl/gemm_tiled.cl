/* SPDX-License-Identifier: MIT */
/* GEMM for any device with work-groups: WG_M x WG_N work-items with ITEM_M x ITEM_N results each in registers, slices of SLICE along k in
 * local memory. Any strides and storage types; the loads run along whichever of the two indices is contiguous. A work-item's results are
 * blocks of 4 x 4, the next block a whole group's width away, so that neighbours read neighbouring words of local memory. Loads and products of a
 * slice are unrolled as text, so that they do not count towards a device's limit on iterations. */
#include "types.cl"
#include "gemm_common.cl"

#if !defined(WG_M) || !defined(WG_N) || !defined(ITEM_M) || !defined(ITEM_N) || !defined(SLICE) || !defined(LOADS_A) || !defined(LOADS_B)
#error "WG_M, WG_N: 8 or 16; ITEM_M, ITEM_N: 4 or 8; SLICE: 8, 16, 32; LOADS_A: ITEM_M SLICE / WG_N, LOADS_B: ITEM_N SLICE / WG_M, up to 16"
#endif
#if !defined(IS_A_K_INNER) || !defined(IS_B_K_INNER)
#error "IS_A_K_INNER, IS_B_K_INNER (the operand is contiguous in k): 0 or 1"
#endif

#define TILE_M (WG_M * ITEM_M)
#define TILE_N (WG_N * ITEM_N)
#define PITCH_M (TILE_M + 4) /* spreads the slices over the banks of local memory */
#define PITCH_N (TILE_N + 4)

#define TIMES_1(F, i) F(i)
#define TIMES_2(F, i) TIMES_1(F, i) TIMES_1(F, (i) + 1)
#define TIMES_4(F, i) TIMES_2(F, i) TIMES_2(F, (i) + 2)
#define TIMES_8(F, i) TIMES_4(F, i) TIMES_4(F, (i) + 4)
#define TIMES_16(F, i) TIMES_8(F, i) TIMES_8(F, (i) + 8)
#define TIMES_32(F, i) TIMES_16(F, i) TIMES_16(F, (i) + 16)

/* Work-item `local_id` loads elements local_id + GROUP i, i = 0.., of a slice of TILE_M or TILE_N lines. */
#if IS_A_K_INNER
#define A_LINE(element) ((element) / SLICE)
#define A_DEPTH(element) ((element) % SLICE)
#else
#define A_LINE(element) ((element) % TILE_M)
#define A_DEPTH(element) ((element) / TILE_M)
#endif
#if IS_B_K_INNER
#define B_LINE(element) ((element) / SLICE)
#define B_DEPTH(element) ((element) % SLICE)
#else
#define B_LINE(element) ((element) % TILE_N)
#define B_DEPTH(element) ((element) / TILE_N)
#endif

#define GROUP (WG_M * WG_N)
#define LOAD_A_ELEMENT(at)                                                                                          \
    {                                                                                                               \
        const uint element = at; /* unsigned: quotients by powers of two are shifts */                              \
        const int row = first_row + (int)A_LINE(element), pa = p + (int)A_DEPTH(element);                           \
        a_slice[A_DEPTH(element) * PITCH_M + A_LINE(element)] =                                                     \
            row < m && pa < k ? LOAD_A(a, a_offset + row * a_row_stride + pa * a_k_stride) : 0.0f;                  \
    }
#define LOAD_B_ELEMENT(at)                                                                                          \
    {                                                                                                               \
        const uint element = at;                                                                                    \
        const int column = first_column + (int)B_LINE(element), pb = p + (int)B_DEPTH(element);                     \
        b_slice[B_DEPTH(element) * PITCH_N + B_LINE(element)] =                                                     \
            column < n && pb < k ? LOAD_B(b, b_offset + pb * b_k_stride + column * b_column_stride) : 0.0f;         \
    }

/* Large tiles and deep slices go in short loops instead: all of their loads at once would take more registers than there are. */
#define IS_DEEP (SLICE > 16 || ITEM_M * ITEM_N > 16)
#define NOT_UNROLLED _Pragma("unroll 1")
#if IS_DEEP
#define LOAD_SLICE(count, LOAD)                                                 \
    NOT_UNROLLED                                                                \
    for (uint at = local_id; at < (count) * GROUP; at += 2 * GROUP) {           \
        LOAD##_ELEMENT(at)                                                      \
        LOAD##_ELEMENT(at + GROUP)                                              \
    }
#else
#define LOAD_A_TURN(i) LOAD_A_ELEMENT(local_id + (i) * GROUP)
#define LOAD_B_TURN(i) LOAD_B_ELEMENT(local_id + (i) * GROUP)
#define LOAD_SLICE(count, LOAD) PASTE(TIMES_, count)(LOAD##_TURN, 0)
#endif

/* F(r, c) for each block of 4 rows r and 4 columns c of a work-item. */
#if ITEM_M == 8
#define EACH_ROW_BLOCK(F, c) F(0, c) F(1, c)
#else
#define EACH_ROW_BLOCK(F, c) F(0, c)
#endif
#if ITEM_N == 8
#define EACH_COLUMN_BLOCK(F, r) F(r, 0) F(r, 1)
#define EACH_BLOCK(F) EACH_ROW_BLOCK(F, 0) EACH_ROW_BLOCK(F, 1)
#else
#define EACH_COLUMN_BLOCK(F, r) F(r, 0)
#define EACH_BLOCK(F) EACH_ROW_BLOCK(F, 0)
#endif

#define CLEAR_BLOCK(r, c) sum[4 * r][c] = sum[4 * r + 1][c] = sum[4 * r + 2][c] = sum[4 * r + 3][c] = (float4)(0.0f);
#define READ_A(r, unused) av[r] = vload4(0, a_line + r * 4 * WG_M);
#define READ_B(unused, c) bv[c] = vload4(0, b_line + c * 4 * WG_N);
#define MULTIPLY_BLOCK(r, c)                                     \
    sum[4 * r][c] = av[r].x * bv[c] + sum[4 * r][c];             \
    sum[4 * r + 1][c] = av[r].y * bv[c] + sum[4 * r + 1][c];     \
    sum[4 * r + 2][c] = av[r].z * bv[c] + sum[4 * r + 2][c];     \
    sum[4 * r + 3][c] = av[r].w * bv[c] + sum[4 * r + 3][c];
#define MULTIPLY_SLICE(d)                                                    \
    {                                                                        \
        __local const float *const a_line = a_slice + (d) * PITCH_M + y * 4; \
        __local const float *const b_line = b_slice + (d) * PITCH_N + x * 4; \
        float4 av[ITEM_M / 4], bv[ITEM_N / 4];                               \
        EACH_ROW_BLOCK(READ_A, 0)                                            \
        EACH_COLUMN_BLOCK(READ_B, 0)                                         \
        EACH_BLOCK(MULTIPLY_BLOCK)                                           \
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
#define STORE_BLOCK(r, block)                                        \
    {                                                                \
        const int row = first_row + r * 4 * WG_M + y * 4;            \
        const int column = first_column + block * 4 * WG_N + x * 4;  \
        STORE_FOUR(sum[4 * r][block], 0)                             \
        STORE_FOUR(sum[4 * r + 1][block], 1)                         \
        STORE_FOUR(sum[4 * r + 2][block], 2)                         \
        STORE_FOUR(sum[4 * r + 3][block], 3)                         \
    }

__kernel __attribute__((reqd_work_group_size(WG_N, WG_M, 1))) void gemm_tiled(
    int m, int n, int k, __global const A_T *restrict a, long a_offset, long a_row_stride, long a_k_stride, long4 a_batch_stride,
    __global const B_T *restrict b, long b_offset, long b_k_stride, long b_column_stride, long4 b_batch_stride, RESULT_PARAMETERS)
{
    __local float a_slice[SLICE * PITCH_M], b_slice[SLICE * PITCH_N];
    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    const uint local_id = (uint)(y * WG_N + x);
    const int first_column = (int)get_group_id(0) * TILE_N, first_row = (int)get_group_id(1) * TILE_M;
    const uint batch = (uint)get_group_id(2);
    a_offset += batch_offset(batch, batch_size, a_batch_stride);
    b_offset += batch_offset(batch, batch_size, b_batch_stride);

    float4 sum[ITEM_M][ITEM_N / 4];
    EACH_BLOCK(CLEAR_BLOCK)
    for (int p = 0; p < k; p += SLICE) {
        LOAD_SLICE(LOADS_A, LOAD_A)
        LOAD_SLICE(LOADS_B, LOAD_B)
        barrier(CLK_LOCAL_MEM_FENCE);
#if IS_DEEP
        NOT_UNROLLED
        for (int d = 0; d < SLICE; d += 2) {
            TIMES_2(MULTIPLY_SLICE, d)
        }
#else
        PASTE(TIMES_, SLICE)(MULTIPLY_SLICE, 0)
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    EACH_BLOCK(STORE_BLOCK)
}
