/* SPDX-License-Identifier: MIT */
/* GEMM on a matrix unit (matrix_unit.cl). A group has WAVES_M x WAVES_N waves, each with BLOCKS_M x BLOCKS_N blocks of 16 x 16 results. It
 * goes through k in slices of SLICE, which lie in local memory as blocks of 16-bit numbers in the unit's order.
 *
 * - A_PARTS, B_PARTS: how many 16-bit numbers represent an element of the operand by their sum: 1 (rounded) or 2. The product of two
 *   second parts is left out. The error of a sum of products is at most 2^-7 of the sum of their magnitudes with one part each
 *   (bfloat16; 2^-10 for float16), and 2^-15 (2^-20) with two. A result that needs an element that is infinite as 16 bits is NaN.
 * - B_FORM: B_ROWS, lines with any strides and storage type; B_BLOCKS, quantised rows (gemm_matrix_blocks.cl).
 * - TOTAL_EVERY: number of slices after which the unit's sums are added to totals by ordinary additions; 0: at the end only. Units that
 *   round toward zero drift in long sums.
 * - BUFFERS: slices in local memory. With 2 the next slice is loaded into registers while this one is multiplied.
 * - Rows beyond m repeat row m - 1, columns beyond n column n - 1; neither is stored. Elements beyond k are 0 in both operands. */
#include "matrix_slice.cl"
#include "gemm_common.cl"

#define B_ROWS 0
#define B_BLOCKS 1
#if !defined(WAVES_M) || !defined(WAVES_N) || !defined(BLOCKS_M) || !defined(BLOCKS_N) || !defined(SLICE)
#error "WAVES_M, WAVES_N, BLOCKS_M, BLOCKS_N: 1 or more; SLICE: 16, 32 or 64"
#endif
#if !defined(A_PARTS) || !defined(B_PARTS) || !defined(TOTAL_EVERY) || !defined(BUFFERS)
#error "A_PARTS, B_PARTS: 1 or 2; TOTAL_EVERY: 0 or more; BUFFERS: 1 or 2"
#endif
#if !defined(A_READS) || !defined(IS_A_K_INNER) || !defined(B_FORM) || !defined(C_VECTOR)
#error "A_READS (wide_loads.cl, along k); IS_A_K_INNER, C_VECTOR: 0 or 1; B_FORM: B_ROWS, B_BLOCKS"
#endif
#if B_FORM == B_BLOCKS && !defined(IS_B_ALIGNED)
#error "IS_B_ALIGNED (blocks and their parts begin at multiples of eight bytes): 0 or 1"
#endif
#if B_FORM == B_ROWS && (!defined(B_READS) || !defined(IS_B_K_INNER))
#error "B_READS (wide_loads.cl, along k); IS_B_K_INNER: 0 or 1"
#endif

#define TILE_M (WAVES_M * BLOCKS_M * 16)
#define TILE_N (WAVES_N * BLOCKS_N * 16)
#define GROUP (WAVES_M * WAVES_N * LANES)
#define K_BLOCKS (SLICE / 16)
#define HAS_REST (A_PARTS == 2 || B_PARTS == 2)
#define HAS_REST_SUMS (IS_F16 && HAS_REST) /* products with a second part are scaled, so that they need sums of their own */

/* Number of eights (matrix_unit.cl) of an item in a slice. Blocks in local memory: [part][k block][line block][BLOCK]. */
#define A_EIGHTS (TILE_M * SLICE / 8 / GROUP)
#define B_EIGHTS (TILE_N * SLICE / 8 / GROUP)
#define A_PART_WORDS (K_BLOCKS * TILE_M / 16 * BLOCK)
#define B_PART_WORDS (K_BLOCKS * TILE_N / 16 * BLOCK)
#define A_WORDS (A_PARTS * A_PART_WORDS)
#define B_WORDS (B_PARTS * B_PART_WORDS)
/* Local memory through which results leave: one row of blocks of every wave. */
#define STAGED_ROWS (WAVES_M * 16)
#define PITCH (TILE_N + 4)
#define STAGED_WORDS (STAGED_ROWS * PITCH)
#define SLICE_WORDS (A_WORDS + B_WORDS)
#define LOCAL_WORDS (BUFFERS * SLICE_WORDS > STAGED_WORDS ? BUFFERS * SLICE_WORDS : STAGED_WORDS)

#if TILE_M * SLICE / 8 % GROUP || TILE_N * SLICE / 8 % GROUP
#error "an item's share of a slice is not whole"
#endif

#define EACH_BLOCK                            \
    UNROLL for (int i = 0; i < BLOCKS_M; i++) \
        UNROLL for (int j = 0; j < BLOCKS_N; j++)
#define EACH_PART UNROLL for (int v = 0; v < PARTS; v++)

DEFINE_FETCH(fetch_a, A_T, LOAD_A, A_READS, SLICE)
#if B_FORM == B_ROWS
DEFINE_FETCH(fetch_b, B_T, LOAD_B, B_READS, SLICE)
#endif

#if B_FORM == B_BLOCKS
static inline void keep_b_weights(__local uint *slice, uint line, uint t, eight_weights w)
{
    __local uint *const block = slice + (t / 4 * (TILE_N / 16) + line / 16) * BLOCK;
    const float4 first = (float4)(w.even.x, w.odd.x, w.even.y, w.odd.y), second = (float4)(w.even.z, w.odd.z, w.even.w, w.odd.w);
    const uint4 pairs = pairs_of(first, second);
    store_b_line(block, line % 16, t % 4, pairs);
    if (B_PARTS == 2)
        store_b_line(block + B_PART_WORDS, line % 16, t % 4, rests_of(pairs, first, second));
}
#endif

/* LOAD_x_SLICE loads the next slice into registers, KEEP_x_SLICE stores it in local memory. */
#define A_LINE(i) eight_line(item + (i) * GROUP, TILE_M, SLICE, IS_A_K_INNER)
#define A_FOUR(i) eight_t(item + (i) * GROUP, TILE_M, SLICE, IS_A_K_INNER)
#define FETCH_A(i, second)                                                                                                  \
    fetch_a(a, A_LINE(i) + (second) * SECOND_LINE, 4 * (A_FOUR(i) + (second) * SECOND_T), last_row, a_left,                 \
            (OFFSET_T)a_row_stride, (OFFSET_T)a_k_stride)
#define LOAD_A_SLICE                              \
    UNROLL for (int i = 0; i < A_EIGHTS; i++)     \
    {                                             \
        a_next[i][0] = FETCH_A(i, 0);             \
        a_next[i][1] = FETCH_A(i, 1);             \
    }                                             \
    a += SLICE * a_k_stride;                      \
    a_left -= SLICE;
#define KEEP_A_SLICE                              \
    UNROLL for (int i = 0; i < A_EIGHTS; i++)     \
        put_a(a_slice, TILE_M, SLICE, A_PARTS, A_LINE(i), A_FOUR(i), a_next[i][0], a_next[i][1]);
#if B_FORM == B_ROWS
#define B_LINE(i) eight_line(item + (i) * GROUP, TILE_N, SLICE, IS_B_K_INNER)
#define B_FOUR(i) eight_t(item + (i) * GROUP, TILE_N, SLICE, IS_B_K_INNER)
#define FETCH_B(i, second)                                                                                                        \
    fetch_b(b, B_LINE(i) + (second) * SECOND_LINE, 4 * (B_FOUR(i) + (second) * SECOND_T), last_column, b_left,                    \
            (OFFSET_T)b_column_stride, (OFFSET_T)b_k_stride)
#define B_NEXT float4 b_next[B_EIGHTS][2];
#define LOAD_B_SLICE                              \
    UNROLL for (int i = 0; i < B_EIGHTS; i++)     \
    {                                             \
        b_next[i][0] = FETCH_B(i, 0);             \
        b_next[i][1] = FETCH_B(i, 1);             \
    }                                             \
    b += SLICE * b_k_stride;                      \
    b_left -= SLICE;
#define KEEP_B_SLICE                              \
    UNROLL for (int i = 0; i < B_EIGHTS; i++)     \
        put_b(b_slice, TILE_N, SLICE, B_PARTS, B_LINE(i), B_FOUR(i), b_next[i][0], b_next[i][1]);
#else
/* Eights are eight neighbours in k. Rows hold whole blocks, and a slice takes whole eights of them. */
#define B_LINE(i) ((item + (i) * GROUP) / (SLICE / 8))
#define B_DEPTH(i) ((item + (i) * GROUP) % (SLICE / 8) * 8)
#define B_AT(p, i) (uint)min((p) + (int)B_DEPTH(i), k - 8)
#define B_NEXT stored_eight b_next[B_EIGHTS];
#define LOAD_B_SLICE                                                                                                    \
    UNROLL for (int i = 0; i < B_EIGHTS; i++) b_next[i] =                                                               \
        load_eight(b + min(B_LINE(i), last_column) * row_bytes, B_AT(b_from, i), IS_B_ALIGNED);                         \
    b_from += SLICE;
#define KEEP_B_SLICE                               \
    UNROLL for (int i = 0; i < B_EIGHTS; i++)      \
        keep_b_weights(b_slice, B_LINE(i), B_DEPTH(i) / 4, weights_of_eight(b_next[i], B_AT(p, i)));
#endif

#if B_FORM == B_ROWS
#define B_PARAMETERS __global const B_T *restrict b, long b_offset, long b_k_stride, long b_column_stride, long4 b_batch_stride
#else
#define B_PARAMETERS __global const uchar *restrict b, long b_offset, long row_bytes
#endif

/* Finishes and stores the results of columns column .. column + 3 that are below n. */
static inline void store_four(float4 four, int row, int column, int n, uint batch, RESULT_PARAMETERS)
{
    const long c_row = C_ROW(batch, row), r_row = R_ROW(batch, row);
#if C_VECTOR
    const float4 bias_values = HAS_BIAS ? vload4(0, bias + bias_offset + column) : (float4)(0.0f);
    const float4 residual_values = HAS_RESIDUAL ? *(__global const float4 *)(residual + r_row + column) : (float4)(0.0f);
    *(__global float4 *)(c + c_row + C_COLUMN(column)) =
        (float4)(FINISH(four.x, bias_values.x), FINISH(four.y, bias_values.y), FINISH(four.z, bias_values.z),
                 FINISH(four.w, bias_values.w)) + residual_values;
#else
    float values[4];
    vstore4(four, 0, values);
    for (int i = 0; i < min(4, n - column); i++) {
        const float bias_value = HAS_BIAS ? bias[bias_offset + column + i] : 0.0f;
        STORE_C(c, c_row + C_COLUMN(column + i), ADD_RESIDUAL(FINISH(values[i], bias_value), r_row + (column + i) * r_column_stride));
    }
#endif
}

__kernel WAVE_ATTRIBUTE __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gemm_matrix(
    int m, int n, int k, __global const A_T *restrict a, long a_offset, long a_row_stride, long a_k_stride, long4 a_batch_stride,
    B_PARAMETERS, RESULT_PARAMETERS)
{
    __local uint4 words[LOCAL_WORDS / 4];
    WAVE_OF_ITEM(w, WAVES_M * WAVES_N)
    const uint item = (uint)get_local_id(0), wave_m = w.index % WAVES_M, wave_n = w.index / WAVES_M, batch = (uint)get_group_id(2);
    const int first_column = (int)get_group_id(0) * TILE_N, first_row = (int)get_group_id(1) * TILE_M;
    const uint last_row = (uint)(m - 1 - first_row), last_column = (uint)(n - 1 - first_column);
    int a_left = k;
    a += a_offset + batch_offset(batch, batch_size, a_batch_stride) + first_row * a_row_stride;
#if B_FORM == B_ROWS
    int b_left = k;
    b += b_offset + batch_offset(batch, batch_size, b_batch_stride) + first_column * b_column_stride;
#else
    int b_from = 0;
    b += b_offset + first_column * row_bytes;
#endif

    sums sum[BLOCKS_M][BLOCKS_N];
    EACH_BLOCK EACH_PART sum[i][j].parts[v] = 0.0f;
#if HAS_REST_SUMS
    sums rest[BLOCKS_M][BLOCKS_N];
    EACH_BLOCK EACH_PART rest[i][j].parts[v] = 0.0f;
#define REST rest
#else
#define REST sum
#endif
#if TOTAL_EVERY
    sums total[BLOCKS_M][BLOCKS_N];
    EACH_BLOCK EACH_PART total[i][j].parts[v] = 0.0f;
    int until_total = TOTAL_EVERY;
#endif

    float4 a_next[A_EIGHTS][2];
    B_NEXT
    if (BUFFERS == 2) {
        LOAD_A_SLICE
        LOAD_B_SLICE
    }
    for (int p = 0; p < k; p += SLICE) {
        __local uint *const a_slice = (__local uint *)words + (BUFFERS == 2 && p / SLICE % 2 ? SLICE_WORDS : 0);
        __local uint *const b_slice = a_slice + A_WORDS;
        if (BUFFERS == 1) {
            LOAD_A_SLICE
            LOAD_B_SLICE
        }
        KEEP_A_SLICE
        KEEP_B_SLICE
        barrier(CLK_LOCAL_MEM_FENCE);
        if (BUFFERS == 2 && p + SLICE < k) {
            LOAD_A_SLICE
            LOAD_B_SLICE
        }
        UNROLL for (int depth = 0; depth < K_BLOCKS; depth++)
        {
            fragment a_first[BLOCKS_M], a_second[BLOCKS_M];
            UNROLL for (int i = 0; i < BLOCKS_M; i++)
            {
                __local const uint *const from = a_slice + (depth * (TILE_M / 16) + wave_m * BLOCKS_M + i) * BLOCK;
                a_first[i] = load_a_local(from, w.lane);
                if (A_PARTS == 2)
                    a_second[i] = load_a_local(from + A_PART_WORDS, w.lane);
            }
            UNROLL for (int j = 0; j < BLOCKS_N; j++)
            {
                __local const uint *const from = b_slice + (depth * (TILE_N / 16) + wave_n * BLOCKS_N + j) * BLOCK;
                const fragment b_first = load_b_local(from, w.lane);
                const fragment b_second = B_PARTS == 2 ? load_b_local(from + B_PART_WORDS, w.lane) : b_first;
                if (B_PARTS == 2)
                    UNROLL for (int i = 0; i < BLOCKS_M; i++)
                        multiply_add(w, &REST[i][j], a_first[i], b_second);
                if (A_PARTS == 2)
                    UNROLL for (int i = 0; i < BLOCKS_M; i++)
                        multiply_add(w, &REST[i][j], a_second[i], b_first);
                UNROLL for (int i = 0; i < BLOCKS_M; i++)
                    multiply_add(w, &sum[i][j], a_first[i], b_first);
            }
        }
#if TOTAL_EVERY
        if (--until_total == 0) {
            until_total = TOTAL_EVERY;
            EACH_BLOCK EACH_PART
            {
                total[i][j].parts[v] += sum[i][j].parts[v];
                sum[i][j].parts[v] = 0.0f;
            }
        }
#endif
        if (BUFFERS == 1)
            barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (BUFFERS == 2)
        barrier(CLK_LOCAL_MEM_FENCE);
#if TOTAL_EVERY
    EACH_BLOCK EACH_PART sum[i][j].parts[v] += total[i][j].parts[v];
#endif

    /* Results go through local memory, whatever the unit's layout: an item finishes and stores four neighbours. Infinite sums become
     * NaN. */
    __local float *const staged = (__local float *)words;
    UNROLL for (int i = 0; i < BLOCKS_M; i++)
    {
        UNROLL for (int j = 0; j < BLOCKS_N; j++)
            UNROLL for (int v = 0; v < VALUES; v++)
            {
                float value = sum[i][j].values[v];
#if HAS_REST_SUMS
                value += rest[i][j].values[v] * (1.0f / REST_SCALE);
#endif
                staged[(wave_m * 16 + sum_row(w.lane, v)) * PITCH + (wave_n * BLOCKS_N + j) * 16 + sum_column(w.lane, v)] = value;
            }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
        for (uint at = item; at < STAGED_ROWS * TILE_N / 4; at += GROUP) {
            const uint line = at / (TILE_N / 4), here = at % (TILE_N / 4) * 4, row_here = (line / 16 * BLOCKS_M + i) * 16 + line % 16;
            const int row = first_row + (int)row_here, column = first_column + (int)here;
            if (row < m && column < n) {
                const float4 four = *(__local const float4 *)(staged + line * PITCH + here);
                store_four(four + 0.0f * four, row, column, n, batch, RESULT_ARGUMENTS);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
