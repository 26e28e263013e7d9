/* SPDX-License-Identifier: MIT */
/* Products of few rows with quantised weights as they are stored. LANES items of a work-group make COLUMNS columns of the result. They take
 * the pieces of the weight's rows in turn (block_pieces.cl), with one reduction at the end. Columns of an item share its reads of A.
 * A_READS: how rows of A may be read (wide_loads.cl). IS_GATED: a second weight of the same type, and c = f(alpha a b + bias) * (a gate)
 * without a residual. */
#include "wide_loads.cl"
#include "block_pieces.cl"
#include "gemm_common.cl"
#include "unroll.cl"
#include "group.cl"

#if !defined(ROWS) || !defined(WG) || !defined(LANES) || !defined(COLUMNS) || !defined(A_READS) || !defined(IS_GATED) || \
    !defined(IS_UNROLLED)
#error "ROWS: 1 to 16; LANES: a power of two from ROWS * COLUMNS to WG; COLUMNS: 1, 2, 4; \
A_READS: ELEMENTS, [ALIGNED_]VECTORS; IS_GATED, IS_UNROLLED: 0, 1"
#endif
/* Rows of weights that an item reads: those of its columns, then those of their gates. */
#define WEIGHTS (COLUMNS * (1 + IS_GATED))
#if WEIGHTS == 4
#define EACH_WEIGHT(F) F(0) F(1) F(2) F(3)
#elif WEIGHTS == 2
#define EACH_WEIGHT(F) F(0) F(1)
#else
#define EACH_WEIGHT(F) F(0)
#endif
#define SUMS (ROWS * WEIGHTS) /* sum i * WEIGHTS + j: of row i with weight j */

#if A_READS == ELEMENTS
#define READ_FOUR(p)                                                                                                              \
    (float4)(LOAD_A(from, (p) * a_k_stride), LOAD_A(from, ((p) + 1) * a_k_stride), LOAD_A(from, ((p) + 2) * a_k_stride),          \
             LOAD_A(from, ((p) + 3) * a_k_stride))
#else
#define READ_FOUR(p) FOUR(load_f32, from + (p), A_READS)
#endif
#define FIND_WEIGHT(j)                                                                                  \
    __global const uchar *restrict const weight##j =                                                    \
        (j < COLUMNS ? b + b_offset : gate + gate_offset) + min(first + j % COLUMNS, n - 1) * row_bytes;
#define CLEAR_ROW(i)        \
    {                       \
        const int row = i;  \
        EACH_WEIGHT(CLEAR)  \
    }
#define CLEAR(j) sum[row * WEIGHTS + j] = 0.0f;
#define READ_PIECE(j) const block_piece piece##j = read_piece(weight##j + (long)block * BLOCK_BYTES, part);
#if ROWS <= 2
/* Adds a whole run. */
#define ADD_RUN_ROW(i)                                                                                                    \
    {                                                                                                                     \
        const int row = i;                                                                                                \
        const float4 x0 = READ_FOUR(0), x1 = READ_FOUR(4), x2 = READ_FOUR(8), x3 = READ_FOUR(12);                         \
        const float x_sum = HAS_MINIMUM ? sum_of_four((x0 + x1) + (x2 + x3)) : 0.0f;                                      \
        EACH_WEIGHT(ADD_RUN)                                                                                              \
        from += a_row_stride;                                                                                             \
    }
#define ADD_RUN(j)                                                                                                        \
    {                                                                                                                     \
        const float products = run_products(piece##j.run[RUN], exponent, x0, x1, x2, x3);                                           \
        sum[row * WEIGHTS + j] += products * piece##j.factor[RUN];                                                        \
        if (HAS_MINIMUM)                                                                                                  \
            sum[row * WEIGHTS + j] -= x_sum * piece##j.minimum[RUN];                                                      \
    }
#define ADD_RUN_OF_PIECE(index)                                                   \
    {                                                                             \
        enum { RUN = index };                                                     \
        __global const A_T *from = begin + (index) * RUN_DISTANCE * a_k_stride;   \
        EACH_ROW(ADD_RUN_ROW)                                                     \
    }
#define ADD_PIECE EACH_WEIGHT(READ_PIECE) ADD_RUN_OF_PIECE(0) ADD_RUN_OF_PIECE(1)
#else
/* Adds a run four weights at a time. These loops must not be unrolled: elements of A for many rows would then occupy registers. So would
 * the second run of a piece; a piece is therefore read again for it. */
#define TAKE_RUN(j)                                                                                 \
    READ_PIECE(j)                                                                                   \
    uint4 bytes##j = run ? piece##j.run[1] : piece##j.run[0];                                       \
    const float factor##j = run ? piece##j.factor[1] : piece##j.factor[0];                          \
    const float minimum##j = run ? piece##j.minimum[1] : piece##j.minimum[0];
#define TAKE_FOUR(j)                                                                                                      \
    const float4 w##j = four_integers(bytes##j.x, exponent);                                                              \
    bytes##j = bytes##j.yzwx;
#define CLEAR_RUN_ROW(i)    \
    {                       \
        const int row = i;  \
        x_sum[row] = 0.0f;  \
        EACH_WEIGHT(CLEAR_RUN) \
    }
#define CLEAR_RUN(j) run_sum[row * WEIGHTS + j] = 0.0f;
#define ADD_FOUR_ROW(i)                                              \
    {                                                                \
        const int row = i;                                           \
        const float4 x = READ_FOUR(0);                               \
        x_sum[row] += HAS_MINIMUM ? sum_of_four(x) : 0.0f;           \
        EACH_WEIGHT(ADD_FOUR)                                        \
        from += a_row_stride;                                        \
    }
#define ADD_FOUR(j)                                                                  \
    run_sum[row * WEIGHTS + j] = x.w * w##j.w + (x.z * w##j.z + (x.y * w##j.y +      \
                                 (x.x * w##j.x + run_sum[row * WEIGHTS + j])));
#define JOIN_RUN_ROW(i)     \
    {                       \
        const int row = i;  \
        EACH_WEIGHT(JOIN_RUN) \
    }
#define JOIN_RUN(j)                                                        \
    sum[row * WEIGHTS + j] += run_sum[row * WEIGHTS + j] * factor##j;      \
    if (HAS_MINIMUM)                                                       \
        sum[row * WEIGHTS + j] -= x_sum[row] * minimum##j;
#define ADD_PIECE                                                                       \
    _Pragma("unroll 1") for (int run = 0; run < 2; run++)                               \
    {                                                                                   \
        float run_sum[SUMS], x_sum[ROWS];                                               \
        EACH_WEIGHT(TAKE_RUN)                                                           \
        EACH_ROW(CLEAR_RUN_ROW)                                                         \
        _Pragma("unroll 1") for (int four = 0; four < 4; four++)                        \
        {                                                                               \
            __global const A_T *from = begin + (run * RUN_DISTANCE + 4 * four) * a_k_stride; \
            EACH_WEIGHT(TAKE_FOUR)                                                      \
            EACH_ROW(ADD_FOUR_ROW)                                                      \
        }                                                                               \
        EACH_ROW(JOIN_RUN_ROW)                                                          \
    }
#endif
#define KEEP_ROW(i)         \
    {                       \
        const int row = i;  \
        EACH_WEIGHT(KEEP)   \
    }
#define KEEP(j) partial[(row * WEIGHTS + j) * WG + item] = sum[row * WEIGHTS + j];
#define FOLD_ROW(i)         \
    {                       \
        const int row = i;  \
        EACH_WEIGHT(FOLD)   \
    }
#define FOLD(j) partial[(row * WEIGHTS + j) * WG + item] += partial[(row * WEIGHTS + j) * WG + item + half_size];

inline float sum_of_four(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void gemm_blocks(GROUP_PARAMETERS int m, int n, int k, __global const A_T *restrict a, long a_offset, long a_row_stride, long a_k_stride,
                 __global const uchar *restrict b, long b_offset, __global const uchar *restrict gate, long gate_offset, long row_bytes,
                 RESULT_PARAMETERS)
{
    LOCAL_ARRAY(float, partial, SUMS * WG, 0)
    /* Groups of the same columns follow one another, so that the second finds the weight in a cache. The last of them starts at row m -
     * ROWS: it computes some rows of its neighbour again, but does not store them. */
    const int row_groups = (m + ROWS - 1) / ROWS, group = (int)get_group_id(0), column_group = group / row_groups;
    /* No %: Oclgrind fails at a division and % of the same numbers. */
    const int own_row = (group - column_group * row_groups) * ROWS, first_row = min(own_row, m - ROWS);
    const int item = (int)get_local_id(0), lane = item & (LANES - 1);
    const int first = (column_group * (WG / LANES) + item / LANES) * COLUMNS; /* column of the result */
    const uint batch = 0, pieces = (uint)k / PIECE_WEIGHTS, exponent = 0x4b000000u | (uint)(k < 0);
    float sum[SUMS];
    EACH_WEIGHT(FIND_WEIGHT)
    a += a_offset + first_row * a_row_stride;
    EACH_ROW(CLEAR_ROW)
#if IS_UNROLLED
#pragma unroll 2 /* keeps more reads under way */
#endif
    for (uint p = (uint)lane; p < pieces; p += LANES) {
        const uint block = p / BLOCK_PIECES, part = p % BLOCK_PIECES;
        __global const A_T *const begin = a + (block * BLOCK_WEIGHTS + run_column(part)) * a_k_stride;
        ADD_PIECE
    }
    EACH_ROW(KEEP_ROW)
    for (int half_size = LANES / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_size) {
            EACH_ROW(FOLD_ROW)
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int row = lane / COLUMNS, column = first + lane % COLUMNS;
    if (row < ROWS && first_row + row >= own_row && column < n) {
        const float bias_value = HAS_BIAS ? bias[bias_offset + column] : 0.0f;
        float value = FINISH(partial[(row * WEIGHTS + lane % COLUMNS) * WG + item - lane], bias_value);
#if IS_GATED
        value *= partial[(row * WEIGHTS + COLUMNS + lane % COLUMNS) * WG + item - lane];
#endif
        STORE_C(c, C_ROW(batch, first_row + row) + C_COLUMN(column),
                ADD_RESIDUAL(value, R_ROW(batch, first_row + row) + column * r_column_stride));
    }
}
