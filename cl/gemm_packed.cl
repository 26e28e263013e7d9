/* SPDX-License-Identifier: MIT */
/* GEMM for CPU devices: B in panels, one work-item per tile of ROWS x (VECTORS * WIDTH) results that stay in registers.
 *
 * b is [panel][k][VECTORS * WIDTH], zero-padded in n; a is f32 with k contiguous and is read in place, one broadcast per row and k. The last tile
 * of rows starts at m - ROWS and computes some rows a second time, so there are no partial tiles in m (and the residual must not be c).
 * Tiles run in super-blocks of SUPER_ROWS row tiles, inside one panel by panel with the row tile fastest: a super-block of A stays in the
 * second-level cache, and a panel of B is fetched once per super-block (Goto & van de Geijn 2008 keep the same two operands near; without
 * their blocking of k, because a panel of usual k fits). Everything is unrolled as text: named elements of `sum` become registers, and no inner
 * loop counts towards a device's limit on iterations. */
#include "vector.cl"
#include "gemm_common.cl"

#if !defined(ROWS) || !defined(VECTORS) || !defined(IS_C_VECTOR) || !defined(IS_BATCH_INNER)
#error "ROWS: 1 to 8; VECTORS: 1 to 3; IS_C_VECTOR (columns of c and residual contiguous, blocks of whole vectors), IS_BATCH_INNER: 0 or 1"
#endif

#define SUPER_ROWS 16
#define PANEL (VECTORS * WIDTH)

#define ROWS_1(F) F(0)
#define ROWS_2(F) ROWS_1(F) F(1)
#define ROWS_3(F) ROWS_2(F) F(2)
#define ROWS_4(F) ROWS_3(F) F(3)
#define ROWS_5(F) ROWS_4(F) F(4)
#define ROWS_6(F) ROWS_5(F) F(5)
#define ROWS_7(F) ROWS_6(F) F(6)
#define ROWS_8(F) ROWS_7(F) F(7)
#define EACH_ROW(F) PASTE(ROWS_, ROWS)(F)

#define VECTORS_1(F, i) F(i, 0)
#define VECTORS_2(F, i) VECTORS_1(F, i) F(i, 1)
#define VECTORS_3(F, i) VECTORS_2(F, i) F(i, 2)
#define EACH_VECTOR(F, i) PASTE(VECTORS_, VECTORS)(F, i)

/* Lines of the result are fetched while the sums are formed. */
#if defined(__x86_64__) || defined(__aarch64__)
#define PREFETCH_FOR_WRITE(p) __builtin_prefetch((__private const void *)(uintptr_t)(p), 1)
#else
#define PREFETCH_FOR_WRITE(p)
#endif

#define LOAD_B_VECTOR(unused, v) bv[v] = PASTE(vector_, LOAD_B)(b + p * PANEL + v * WIDTH);
#define MULTIPLY_ADD(i, v) sum[i][v] = av * bv[v] + sum[i][v];
#define ROW_STEP(i)                                   \
    {                                                 \
        const floatv av = (floatv)(a[i * a_row_stride + p]); \
        EACH_VECTOR(MULTIPLY_ADD, i)                  \
    }
#define K_STEP                            \
    {                                     \
        floatv bv[VECTORS];               \
        EACH_VECTOR(LOAD_B_VECTOR, 0)     \
        EACH_ROW(ROW_STEP)                \
        p++;                              \
    }

#define CLEAR(i, v) sum[i][v] = (floatv)(0.0f);
#define CLEAR_ROW(i) EACH_VECTOR(CLEAR, i)
#define PREFETCH(i, v) PREFETCH_FOR_WRITE(c + c_tile + i * c_row_stride + c_column[v]);
#define PREFETCH_ROW(i) EACH_VECTOR(PREFETCH, i)

#define FIND_COLUMN(unused, v) c_column[v] = C_COLUMN(column + v * WIDTH);
#define LOAD_BIAS(unused, v) bias_value[v] = HAS_BIAS ? VECTOR_LOAD(bias + bias_offset + column + v * WIDTH) : (floatv)(0.0f);
#define FINISH_VECTOR(i, v) sum[i][v] = FINISH(sum[i][v], bias_value[v]);
#if HAS_RESIDUAL
#define WITH_RESIDUAL(i, v) (sum[i][v] + PASTE(vector_, LOAD_R)(residual + r_tile + i * r_row_stride + column + v * WIDTH))
#else
#define WITH_RESIDUAL(i, v) sum[i][v]
#endif
#define STORE_VECTOR(i, v) PASTE(vector_, STORE_C)(c + c_tile + i * c_row_stride + c_column[v], WITH_RESIDUAL(i, v));
#define SPILL_VECTOR(i, v) ((__private floatv *)spilled)[i * VECTORS + v] = sum[i][v];
#define FINISH_AND_STORE(i, v) FINISH_VECTOR(i, v) STORE_VECTOR(i, v)
#define FINISH_AND_SPILL(i, v) FINISH_VECTOR(i, v) SPILL_VECTOR(i, v)
#define STORE_ROW(i) EACH_VECTOR(FINISH_AND_STORE, i)
#define SPILL_ROW(i) EACH_VECTOR(FINISH_AND_SPILL, i)

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_packed(
    int m, int n, int k, __global const float *restrict a, long a_offset, long a_row_stride, long4 a_batch_stride,
    __global const B_T *restrict b, long b_offset, long4 b_batch_stride, RESULT_PARAMETERS)
{
    const int tile = (int)get_group_id(IS_BATCH_INNER);
    const uint batch = (uint)get_group_id(1 - IS_BATCH_INNER);
    const int row_tiles = (m + ROWS - 1) / ROWS;
    const int panels = (n + PANEL - 1) / PANEL;
    const int super = tile / (SUPER_ROWS * panels);
    const int in_super = tile - super * SUPER_ROWS * panels;
    const int height = min(SUPER_ROWS, row_tiles - super * SUPER_ROWS);
    const int panel = in_super / height;
    const int row = min((super * SUPER_ROWS + in_super - panel * height) * ROWS, m - ROWS);
    const int column = panel * PANEL;

    a += a_offset + batch_offset(batch, batch_size, a_batch_stride) + row * a_row_stride;
    b += b_offset + batch_offset(batch, batch_size, b_batch_stride) + (long)column * k;
    const long c_tile = C_ROW(batch, row);
#if HAS_RESIDUAL
    const long r_tile = R_ROW(batch, row);
#endif
    const bool is_whole = IS_C_VECTOR && column + PANEL <= n;
    long c_column[VECTORS];
    EACH_VECTOR(FIND_COLUMN, 0)
    if (is_whole) {
        EACH_ROW(PREFETCH_ROW)
    }

    floatv sum[ROWS][VECTORS];
    EACH_ROW(CLEAR_ROW)
    int p = 0;
    while (p + 4 <= k) {
        K_STEP
        K_STEP
        K_STEP
        K_STEP
    }
    while (p < k)
        K_STEP

    floatv bias_value[VECTORS];
    EACH_VECTOR(LOAD_BIAS, 0)
    if (is_whole) {
        EACH_ROW(STORE_ROW)
        return;
    }
    float spilled[ROWS * PANEL] __attribute__((aligned(64)));
    EACH_ROW(SPILL_ROW)
    const int columns = min(PANEL, n - column);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < columns; j++) {
            const long at = c_tile + i * c_row_stride + C_COLUMN(column + j);
            STORE_C(c, at, ADD_RESIDUAL(spilled[i * PANEL + j], r_tile + i * r_row_stride + (column + j) * r_column_stride));
        }
    }
}
