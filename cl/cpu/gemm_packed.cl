/* SPDX-License-Identifier: MIT */
/* GEMM for CPU devices: B in panels, tiles of ROWS x (VECTORS * WIDTH) results that stay in registers. A work-item computes item_tiles row
 * tiles, several where k is short, because it takes as long to begin an item as to compute a small tile.
 *
 * b is [panel][k][VECTORS * WIDTH], zero-padded in n; a is f32 with k contiguous and is read in place, one broadcast per row and k. The
 * last tile of rows starts at m - ROWS and computes some rows a second time, so there are no partial tiles in m (and the residual must not
 * be c). Tiles run in super-blocks of super_rows row tiles. A super-block goes through B panel by panel, with the row tile fastest.
 * So a super-block of A stays in the second-level cache, and a panel of B is fetched once per super-block. Goto & van de Geijn 2008 keep
 * the same two operands near; their blocking of k is left out, because a panel of usual k fits. While the row tiles of a super-block go
 * over one panel, each prefetches its share of the next panel; otherwise the first of them would wait for memory. If a super-block has only
 * two row tiles and the panel is wide, each prefetches two lines at every k. A single row tile reads its panel as fast as memory allows,
 * with or without prefetching. Rows and vectors are unrolled by the preprocessor, so that elements of `sum` become registers. */
#include "vector.cl"
#include "result_parts.cl"
#include "gemm_common.cl"
#include "unroll.cl"
#include "prefetch.cl"
#include "item.cl"

#if !defined(ROWS) || !defined(VECTORS) || !defined(IS_C_VECTOR)
#error "ROWS: 1 to 8; VECTORS: 1 to 3; IS_C_VECTOR (columns of c and residual contiguous, blocks of whole vectors): 0 or 1"
#endif

#define PANEL (VECTORS * WIDTH)

/* A single row always waits for memory: prefetching gains nothing, and unrolling several k keeps more loads under way. With more rows,
 * unrolling several k makes PoCL's compiler spill registers. */
#if ROWS == 1
#define FIND_AHEAD
#define ASK_AHEAD
#define UNROLLED_K 4
#else
#define LINE (64 / (int)sizeof(B_T)) /* elements of B in a cache line */
#define FIND_AHEAD                                             \
    const int ahead_step = (PANEL + height - 1) / height;      \
    const int next_line = height == 2 ? LINE : 0;              \
    __global const B_T *ahead = b + (long)k * (PANEL + tile * ahead_step);
#define ASK_AHEAD                             \
    PREFETCH_STREAM(ahead);                   \
    if (PANEL > 2 * LINE)                     \
        PREFETCH_STREAM(ahead + next_line);   \
    ahead += ahead_step;
#define UNROLLED_K 1
#endif

#define LOAD_B_VECTOR(unused, v) bv[v] = PASTE(vector_, LOAD_B)(b + p * PANEL + v * WIDTH);
#define MULTIPLY_ADD(i, v) sum[i][v] = av * bv[v] + sum[i][v];
#define ROW_STEP(i)                                   \
    {                                                 \
        const floatv av = (floatv)(a_tile[i * a_row_stride + p]); \
        EACH_VECTOR(MULTIPLY_ADD, i)                  \
    }
#define K_STEP                            \
    {                                     \
        ASK_AHEAD                         \
        floatv bv[VECTORS];               \
        EACH_VECTOR(LOAD_B_VECTOR, 0)     \
        EACH_ROW(ROW_STEP)                \
    }

#define CLEAR(i, v) sum[i][v] = (floatv)(0.0f);
#define CLEAR_ROW(i) EACH_VECTOR(CLEAR, i)
/* Lines of the result and of the residual are fetched while the sums are formed. */
#define PREFETCH_RESULT(i, v) PREFETCH_FOR_WRITE(c + c_tile + i * c_row_stride + c_column[v]);
#define PREFETCH_RESIDUAL(i, v) PREFETCH_FOR_READ(residual + r_tile + i * r_row_stride + column + v * WIDTH);
#define PREFETCH_RESULT_ROW(i) EACH_VECTOR(PREFETCH_RESULT, i)
#define PREFETCH_RESIDUAL_ROW(i) EACH_VECTOR(PREFETCH_RESIDUAL, i)

#define FIND_COLUMN(unused, v) c_column[v] = C_COLUMN(column + v * WIDTH);
#define LOAD_BIAS(unused, v) bias_value[v] = HAS_BIAS ? VECTOR_LOAD(bias + bias_offset + column + v * WIDTH) : (floatv)(0.0f);
#define WITH_RESIDUAL(value, v) (HAS_RESIDUAL ? (value) + PASTE(vector_, LOAD_R)(residual + r_row + column + v * WIDTH) : (value))
#define SPILL(i, v) spilled[i][v] = sum[i][v];
#define SPILL_ROW(i) EACH_VECTOR(SPILL, i)
#define FINISH_VECTOR(i, v) spilled[i][v] = FINISH(spilled[i][v], bias_value[v]);
#define STORE_VECTOR(i, v) PASTE(vector_, STORE_C)(c + c_row + c_column[v], WITH_RESIDUAL(spilled[i][v], v));

/* Stores one column at a time, for any strides. A whole panel is stored from registers, because reading single lanes back from memory that
 * was just written as a vector stalls; a panel that is cut off at n is stored from memory. */
#define STORE_COLUMN(value, j) \
    STORE_C(c, c_row + C_COLUMN(column + (j)), ADD_RESIDUAL(value, r_row + (column + (j)) * r_column_stride));
#define LANES_4(F, v) F(v, 0, 0) F(v, 1, 1) F(v, 2, 2) F(v, 3, 3)
#define LANES_8(F, v) LANES_4(F, v) F(v, 4, 4) F(v, 5, 5) F(v, 6, 6) F(v, 7, 7)
#define LANES_16(F, v) \
    LANES_8(F, v) F(v, 8, 8) F(v, 9, 9) F(v, 10, a) F(v, 11, b) F(v, 12, c) F(v, 13, d) F(v, 14, e) F(v, 15, f)
#define STORE_LANE(v, lane, name) STORE_COLUMN(value.s##name, v * WIDTH + lane)
#define STORE_LANES(i, v)                       \
    {                                           \
        const floatv value = spilled[i][v];     \
        PASTE(LANES_, WIDTH)(STORE_LANE, v)     \
    }

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_packed(
    ITEM_PARAMETERS int m, int n, int k, __global const float *restrict a, long a_offset, long a_row_stride, long4 a_batch_stride,
    __global const B_T *restrict b, long b_offset, long4 b_batch_stride, int super_rows, int item_tiles, int is_batch_inner,
    RESULT_PARAMETERS)
{
    const uint x = (uint)get_group_id(0), y = (uint)get_group_id(1);
    const int item = (int)(is_batch_inner ? y : x);
    const uint batch = is_batch_inner ? x : y;
    const int row_tiles = (m + ROWS - 1) / ROWS;
    const int panels = (n + PANEL - 1) / PANEL;
    const int super_items = super_rows / item_tiles; /* of a panel */
    const int super = item / (super_items * panels);
    const int in_super = item - super * super_items * panels;
    const int height = min(super_rows, row_tiles - super * super_rows);
    const int items = (height + item_tiles - 1) / item_tiles;
    const int panel = in_super / items, first_tile = (in_super - panel * items) * item_tiles;
    const int column = panel * PANEL;

    a += a_offset + batch_offset(batch, batch_size, a_batch_stride);
    b += b_offset + batch_offset(batch, batch_size, b_batch_stride) + (long)column * k;
    const long c_batch = C_ROW(batch, 0), r_batch = R_ROW(batch, 0);
    const bool is_whole = column + PANEL <= n;
    long c_column[VECTORS];
    EACH_VECTOR(FIND_COLUMN, 0)
    for (int tile = first_tile; tile < min(first_tile + item_tiles, height); tile++) {
        const int row = min((super * super_rows + tile) * ROWS, m - ROWS);
        __global const float *const a_tile = a + row * a_row_stride;
        const long c_tile = c_batch + row * c_row_stride, r_tile = r_batch + row * r_row_stride;
        if (is_whole && IS_C_VECTOR) {
            EACH_ROW(PREFETCH_RESULT_ROW)
            if (HAS_RESIDUAL) {
                EACH_ROW(PREFETCH_RESIDUAL_ROW)
            }
        }

        FIND_AHEAD
        floatv sum[ROWS][VECTORS];
        EACH_ROW(CLEAR_ROW)
        __attribute__((opencl_unroll_hint(UNROLLED_K)))
        for (int p = 0; p < k; p++)
            K_STEP

        /* The epilogue is a loop over rows of sums in memory. If it were unrolled over registers, the activation's constants would be
         * spilled. */
        floatv bias_value[VECTORS], spilled[ROWS][VECTORS];
        EACH_VECTOR(LOAD_BIAS, 0)
        EACH_ROW(SPILL_ROW)
        const int columns = min(PANEL, n - column);
        for (int i = 0; i < ROWS; i++) {
            const long c_row = c_tile + i * c_row_stride, r_row = r_tile + i * r_row_stride;
            EACH_VECTOR(FINISH_VECTOR, i)
            if (is_whole && IS_C_VECTOR) {
                EACH_VECTOR(STORE_VECTOR, i)
            } else if (is_whole) {
                EACH_VECTOR(STORE_LANES, i)
            } else {
                for (int j = 0; j < columns; j++)
                    STORE_COLUMN(((__private const float *)spilled[i])[j], j)
            }
        }
    }
}
