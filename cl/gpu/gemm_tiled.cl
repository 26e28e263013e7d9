/* SPDX-License-Identifier: MIT */
/* GEMM for GPUs, with any strides and storage types. A group has WG_M x WG_N work-items with ITEM_M x ITEM_N results each in registers, and
 * slices of SLICE along k in local memory. The results of a work-item are blocks of 4 x 4. The next block is a whole group's width away, so
 * that neighbours read neighbouring words.
 *
 * - Local memory is declared and read as float4 (IS_HALF: half4), so that every compiler makes 128-bit (64-bit) reads.
 * - Global addresses are a base that is the same for the whole group, moved by one addition per slice, plus offsets of the item
 *   (OFFSET_T: 32 bits unless the strides are huge). Rows beyond m read row m - 1 instead, columns likewise, so that loads need no test;
 *   such results are not stored. The rest of k, less than SLICE, is done after the loop.
 * - IS_SPLIT, for few results and a long k: k is divided into parts of k_part. Dimension 2 counts batches, then parts; c receives the
 *   sums of each part, part_stride apart.
 * - IS_HALF: operands are rounded to half precision, and so are their products and the sums of up to eight of them, in two chains of
 *   multiply-adds; these sums are added up as floats. Beyond the error of float arithmetic, a sum of products errs by at most 7 x 2^-11
 *   of the sum of their magnitudes (operands 2, a chain 4, both chains 1). Each product with an intermediate number below 2^-14 adds
 *   2^-25 (|a| + |b| + 1). A sum with an infinite intermediate number (65520 or more) is NaN, because its sign would be arbitrary. */
#include "wide_loads.cl"
#include "gemm_common.cl"
#include "half_four.cl"

#if !defined(WG_M) || !defined(WG_N) || !defined(ITEM_M) || !defined(ITEM_N) || !defined(SLICE) || !defined(IS_SPLIT) || !defined(OFFSET_T)
#error "WG_M, WG_N: 8 or 16; ITEM_M, ITEM_N: 4 or 8; SLICE: 8, 16, 32; IS_SPLIT: 0 or 1; OFFSET_T: uint or ulong"
#endif
#if !defined(IS_A_K_INNER) || !defined(IS_B_K_INNER)
#error "IS_A_K_INNER, IS_B_K_INNER (the operand is contiguous in k): 0 or 1"
#endif
#if !defined(A_READS) || !defined(B_READS) || !defined(C_VECTOR)
#error "A_READS, B_READS (wide_loads.cl, of the inner index): a name; C_VECTOR (c and residual lie as aligned vectors): 0 or 1"
#endif

#define TILE_M (WG_M * ITEM_M)
#define TILE_N (WG_N * ITEM_N)
#define PITCH_M (TILE_M + 4) /* spreads the slices over the banks of local memory; keeps float4 aligned */
#define PITCH_N (TILE_N + 4)
#define GROUP (WG_M * WG_N)
#define VECTORS_A (TILE_M * SLICE / 4 / GROUP) /* of an item in a slice */
#define VECTORS_B (TILE_N * SLICE / 4 / GROUP)

/* Line (a row of A, a column of B) and k of vector `at` of a slice, both in elements. */
#if IS_A_K_INNER
#define A_LINE(at) ((at) / (SLICE / 4))
#define A_DEPTH(at) ((at) % (SLICE / 4) * 4)
#else
#define A_LINE(at) ((at) % (TILE_M / 4) * 4)
#define A_DEPTH(at) ((at) / (TILE_M / 4))
#endif
#if IS_B_K_INNER
#define B_LINE(at) ((at) / (SLICE / 4))
#define B_DEPTH(at) ((at) % (SLICE / 4) * 4)
#else
#define B_LINE(at) ((at) % (TILE_N / 4) * 4)
#define B_DEPTH(at) ((at) / (TILE_N / 4))
#endif

/* Loads four neighbours. base: the slice's first k of the group's first line. Lines beyond the last one repeat it. */
#define DEFINE_FETCH(NAME, T, LOAD, READS, IS_K_INNER)                                                                                   \
    static inline float4 NAME(__global const T *base, uint line, uint depth, uint last_line, OFFSET_T line_stride, OFFSET_T k_stride)    \
    {                                                                                                                                    \
        const OFFSET_T at = min(line, last_line) * line_stride + depth * k_stride;                                                       \
        if (READS != ELEMENTS) {                                                                                                         \
            return FOUR(LOAD, base + (IS_K_INNER ? at : min(line, last_line - 3) + depth * k_stride), READS);                            \
        }                                                                                                                                \
        if (IS_K_INNER)                                                                                                                  \
            return (float4)(LOAD(base, at), LOAD(base, at + k_stride), LOAD(base, at + 2 * k_stride), LOAD(base, at + 3 * k_stride));    \
        return (float4)(LOAD(base, at), LOAD(base, min(line + 1, last_line) * line_stride + depth * k_stride),                           \
                        LOAD(base, min(line + 2, last_line) * line_stride + depth * k_stride),                                           \
                        LOAD(base, min(line + 3, last_line) * line_stride + depth * k_stride));                                          \
    }

DEFINE_FETCH(fetch_a, A_T, LOAD_A, A_READS, IS_A_K_INNER)
DEFINE_FETCH(fetch_b, B_T, LOAD_B, B_READS, IS_B_K_INNER)

/* Type of the elements in local memory. */
#if IS_HALF
typedef half real;
typedef half4 real4;
#define TO_REAL_4(v) half_of_four(v)
#else
typedef float real;
typedef float4 real4;
#define TO_REAL_4(v) (v)
#endif

/* Loops unrolled by the preprocessor, so that elements become registers. */
#define TIMES_1(F, i) F(i)
#define TIMES_2(F, i) TIMES_1(F, i) TIMES_1(F, (i) + 1)
#define TIMES_4(F, i) TIMES_2(F, i) TIMES_2(F, (i) + 2)
#define TIMES_8(F, i) TIMES_4(F, i) TIMES_4(F, (i) + 4)
#define TIMES_16(F, i) TIMES_8(F, i) TIMES_8(F, (i) + 8)
#define TIMES_32(F, i) TIMES_16(F, i) TIMES_16(F, (i) + 16)

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
#define READ_A(r, unused) const real4 av##r = a_read[depth * (PITCH_M / 4) + r * WG_M];
#define READ_B(unused, c) const real4 bv##c = b_read[depth * (PITCH_N / 4) + c * WG_N];
/* sum += a b for row i of an item's results; with IS_HALF the chain of row i is the sum. */
#if IS_HALF
#define MULTIPLY(i, c, a_value, b_values) chain[i][c] = fma((half4)(a_value), b_values, chain[i][c]);
#else
#define MULTIPLY(i, c, a_value, b_values) sum[i][c] = (a_value) * (b_values) + sum[i][c];
#endif
#define WITH_OPERANDS(F, r, c)       \
    F(4 * r, c, av##r.x, bv##c)      \
    F(4 * r + 1, c, av##r.y, bv##c)  \
    F(4 * r + 2, c, av##r.z, bv##c)  \
    F(4 * r + 3, c, av##r.w, bv##c)
#define MULTIPLY_BLOCK(r, c) WITH_OPERANDS(MULTIPLY, r, c)
#define AT_DEPTH(d, F)               \
    {                                \
        const uint depth = d;         \
        EACH_ROW_BLOCK(READ_A, 0)    \
        EACH_COLUMN_BLOCK(READ_B, 0) \
        EACH_BLOCK(F)                \
    }
#define MULTIPLY_DEPTH(d) AT_DEPTH(d, MULTIPLY_BLOCK)

#if IS_HALF
#define START(i, c, a_value, b_values) chain[i][c] = (a_value) * (b_values);
#define START_BLOCK(r, c) WITH_OPERANDS(START, r, c)
#define START_DEPTH(d) AT_DEPTH(d, START_BLOCK)
#define MULTIPLY_FOUR(d) START_DEPTH(d) MULTIPLY_DEPTH((d) + 1) MULTIPLY_DEPTH((d) + 2) MULTIPLY_DEPTH((d) + 3)

/* Multiplies by alpha as well: GPUs multiply a half and add a float in one instruction. */
#define ADD_HALVES(i, c, halves) sum[i][c] = four_of_half(halves) * factor + sum[i][c];
#define KEEP_CHAIN(i, c) first[i][c] = chain[i][c];
#define ADD_CHAIN(i, c) ADD_HALVES(i, c, chain[i][c])
#define ADD_CHAINS(i, c) ADD_HALVES(i, c, first[i][c] + chain[i][c])
#define FINITE_OR_NAN(i, c) sum[i][c] += 0.0f * sum[i][c];
#define FOUR_ROWS(F, r, c) F(4 * r, c) F(4 * r + 1, c) F(4 * r + 2, c) F(4 * r + 3, c)
#define KEEP_CHAIN_BLOCK(r, c) FOUR_ROWS(KEEP_CHAIN, r, c)
#define ADD_CHAIN_BLOCK(r, c) FOUR_ROWS(ADD_CHAIN, r, c)
#define ADD_CHAINS_BLOCK(r, c) FOUR_ROWS(ADD_CHAINS, r, c)
#define FINITE_OR_NAN_BLOCK(r, c) FOUR_ROWS(FINITE_OR_NAN, r, c)

#define MULTIPLY_SLICE                                              \
    _Pragma("unroll 1") for (uint d = 0; d < SLICE; d += 8)         \
    {                                                               \
        half4 chain[ITEM_M][ITEM_N / 4], first[ITEM_M][ITEM_N / 4]; \
        MULTIPLY_FOUR(d)                                            \
        EACH_BLOCK(KEEP_CHAIN_BLOCK)                                \
        MULTIPLY_FOUR(d + 4)                                        \
        EACH_BLOCK(ADD_CHAINS_BLOCK)                                \
    }
#define MULTIPLY_ALONE(d)                \
    {                                    \
        half4 chain[ITEM_M][ITEM_N / 4]; \
        START_DEPTH(d)                   \
        EACH_BLOCK(ADD_CHAIN_BLOCK)      \
    }
#else
#define MULTIPLY_SLICE PASTE(TIMES_, SLICE)(MULTIPLY_DEPTH, 0)
#define MULTIPLY_ALONE(d) MULTIPLY_DEPTH(d)
#endif

/* Stores four neighbours in a slice: neighbours along k go to four of its rows, the others to one. */
#define KEEP(slice, PITCH, line, depth, IS_K_INNER, v)                                        \
    if (IS_K_INNER) {                                                                         \
        __local real *const to = (__local real *)(slice) + (depth) * (PITCH) + (line);        \
        to[0] = v.x;                                                                          \
        to[PITCH] = v.y;                                                                      \
        to[2 * (PITCH)] = v.z;                                                                \
        to[3 * (PITCH)] = v.w;                                                                \
    } else {                                                                                  \
        (slice)[((depth) * (PITCH) + (line)) / 4] = v;                                        \
    }

#define STORE_ONE(value, i, j)                                                                                     \
    if (row + i < m && column + j < n) {                                                                           \
        const float bias_value = HAS_BIAS ? bias[bias_offset + column + j] : 0.0f;                                 \
        STORE_C(c, C_ROW(batch, row + i) + C_COLUMN(column + j),                                                   \
                ADD_RESIDUAL(FINISH(value, bias_value), R_ROW(batch, row + i) + (column + j) * r_column_stride));  \
    }
#if C_VECTOR
#define ADD_RESIDUAL_4(v, at) ((v) + (HAS_RESIDUAL ? *(__global const float4 *)(residual + (at)) : (float4)(0.0f)))
#define FINISH_4(v, b4) (float4)(FINISH(v.x, b4.x), FINISH(v.y, b4.y), FINISH(v.z, b4.z), FINISH(v.w, b4.w))
#define STORE_FOUR(values, i)                                                                                    \
    if (row + i < m && column < n)                                                                               \
        *(__global float4 *)(c + C_ROW(batch, row + i) + C_COLUMN(column)) =                                     \
            ADD_RESIDUAL_4(FINISH_4(values, bias_values), R_ROW(batch, row + i) + column);
#define READ_BIAS const float4 bias_values = HAS_BIAS && column < n ? vload4(0, bias + bias_offset + column) : (float4)(0.0f);
#else
#define READ_BIAS
#define STORE_FOUR(values, i)    \
    STORE_ONE(values.s0, i, 0)   \
    STORE_ONE(values.s1, i, 1)   \
    STORE_ONE(values.s2, i, 2)   \
    STORE_ONE(values.s3, i, 3)
#endif
#define STORE_BLOCK(r, block)                                        \
    {                                                                \
        const int row = first_row + r * 4 * WG_M + y * 4;            \
        const int column = first_column + block * 4 * WG_N + x * 4;  \
        READ_BIAS                                                    \
        STORE_FOUR(sum[4 * r][block], 0)                             \
        STORE_FOUR(sum[4 * r + 1][block], 1)                         \
        STORE_FOUR(sum[4 * r + 2][block], 2)                         \
        STORE_FOUR(sum[4 * r + 3][block], 3)                         \
    }

__kernel __attribute__((reqd_work_group_size(WG_N, WG_M, 1))) void gemm_tiled(
    int m, int n, int k, int k_part, long part_stride, __global const A_T *restrict a, long a_offset, long a_row_stride, long a_k_stride,
    long4 a_batch_stride, __global const B_T *restrict b, long b_offset, long b_k_stride, long b_column_stride, long4 b_batch_stride,
    RESULT_PARAMETERS)
{
    __local real4 a_slice[SLICE * PITCH_M / 4], b_slice[SLICE * PITCH_N / 4];
    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    const uint local_id = (uint)(y * WG_N + x);
    const int first_column = (int)get_group_id(0) * TILE_N, first_row = (int)get_group_id(1) * TILE_M;
    const uint last_row = (uint)(m - 1 - first_row), last_column = (uint)(n - 1 - first_column);
    uint batch = (uint)get_group_id(2);
#if IS_SPLIT
    const uint batches = batch_size.x * batch_size.y * batch_size.z * batch_size.w, part = batch / batches;
    batch -= part * batches;
    const int first_k = (int)part * k_part;
    k = min(k - first_k, k_part);
    a += first_k * a_k_stride;
    b += first_k * b_k_stride;
    c += part * part_stride;
#endif
    a += a_offset + batch_offset(batch, batch_size, a_batch_stride) + first_row * a_row_stride;
    b += b_offset + batch_offset(batch, batch_size, b_batch_stride) + first_column * b_column_stride;

#if IS_HALF
    const float factor = alpha;
    alpha = 1.0f;
#endif
    float4 sum[ITEM_M][ITEM_N / 4];
    EACH_BLOCK(CLEAR_BLOCK)
    __local const real4 *const a_read = a_slice + y, *const b_read = b_slice + x;
    const int whole = k - k % SLICE;
    for (int p = 0; p < whole; p += SLICE) {
        real4 a_next[VECTORS_A], b_next[VECTORS_B];
#pragma unroll
        for (int i = 0; i < VECTORS_A; i++)
            a_next[i] = TO_REAL_4(fetch_a(a, A_LINE(local_id + i * GROUP), A_DEPTH(local_id + i * GROUP), last_row,
                                          (OFFSET_T)a_row_stride, (OFFSET_T)a_k_stride));
#pragma unroll
        for (int i = 0; i < VECTORS_B; i++)
            b_next[i] = TO_REAL_4(fetch_b(b, B_LINE(local_id + i * GROUP), B_DEPTH(local_id + i * GROUP), last_column,
                                          (OFFSET_T)b_column_stride, (OFFSET_T)b_k_stride));
#pragma unroll
        for (int i = 0; i < VECTORS_A; i++) {
            KEEP(a_slice, PITCH_M, A_LINE(local_id + i * GROUP), A_DEPTH(local_id + i * GROUP), IS_A_K_INNER, a_next[i])
        }
#pragma unroll
        for (int i = 0; i < VECTORS_B; i++) {
            KEEP(b_slice, PITCH_N, B_LINE(local_id + i * GROUP), B_DEPTH(local_id + i * GROUP), IS_B_K_INNER, b_next[i])
        }
        a += SLICE * a_k_stride;
        b += SLICE * b_k_stride;
        barrier(CLK_LOCAL_MEM_FENCE);
        MULTIPLY_SLICE
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (whole < k) { /* less than a slice: element by element into local memory, then one k after the other */
        const uint rest = (uint)(k - whole);
        __local real *const a_rest = (__local real *)a_slice, *const b_rest = (__local real *)b_slice;
#pragma unroll 1
        for (uint at = local_id; at < rest * TILE_M; at += GROUP)
            a_rest[at / TILE_M * PITCH_M + at % TILE_M] =
                (real)LOAD_A(a, min(at % TILE_M, last_row) * (OFFSET_T)a_row_stride + at / TILE_M * (OFFSET_T)a_k_stride);
#pragma unroll 1
        for (uint at = local_id; at < rest * TILE_N; at += GROUP)
            b_rest[at / TILE_N * PITCH_N + at % TILE_N] =
                (real)LOAD_B(b, min(at % TILE_N, last_column) * (OFFSET_T)b_column_stride + at / TILE_N * (OFFSET_T)b_k_stride);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
        for (uint d = 0; d < rest; d++)
            MULTIPLY_ALONE(d)
    }
#if IS_HALF
    EACH_BLOCK(FINITE_OR_NAN_BLOCK)
#endif
    EACH_BLOCK(STORE_BLOCK)
}
