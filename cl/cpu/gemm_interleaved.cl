/* SPDX-License-Identifier: MIT */
/* GEMM on CPU devices for operands whose batches are innermost (heads, as in "ibhd,jbhd->ijbh"): WIDTH batches are the lanes of a vector,
 * so that each load or store of such an operand is one vector.
 *
 * gemm_interleave brings an operand into [batch][lane block][row][k][WIDTH]; an operand whose batches are adjacent already is read in
 * place. gemm_interleaved holds ROWS x COLS products of lanes in registers. A work-item makes item_tiles times ROWS rows of one lane
 * block. It takes BLOCK_COLS columns of all its rows in turn, so that this piece of B comes from the second-level cache after its first
 * use. It takes BLOCK_K of k at a time, so that a piece of A comes from the first-level cache after its first use, wherever it lies. The
 * last tiles start at m - ROWS and n - COLS and compute some results a second time. Lanes beyond the last batch compute with
 * arbitrary numbers and are not stored. super_blocks lane blocks, whose B fits the second-level cache, go through all rows before the next
 * ones. With FOLD 2, WIDTH / 2 batches fill only half of a vector, so that the other half takes the next row of A and C. Row r of the
 * kernel is then rows 2r and 2r + 1 of the matrix. */
#include "transpose.cl"
#include "gemm_lanes.cl"
#include "unroll.cl"
#include "prefetch.cl"

#if !defined(FOLD) || !defined(IS_PACK)
#error "FOLD: 1 or 2; IS_PACK: 1 builds gemm_interleave, 0 gemm_interleaved"
#endif
#define HALF (WIDTH / FOLD)
/* Element offset of a lane within the tile (FOLD 2: two rows per lane). */
#define LANE_AT(lane, lane_stride, fold_stride) \
    ((lane) < HALF ? (lane) * (lane_stride) : ((lane) - HALF) * (lane_stride) + (fold_stride))

#if IS_PACK

#if !defined(IS_X_UNIT) || !defined(IS_LANE_UNIT)
#error "FROM_T, LOAD_FROM: storage type; IS_X_UNIT, IS_LANE_UNIT: which stride of the source is 1"
#endif

/* Copies the lanes of one x (a column). */
inline void interleave_x(__global const FROM_T *restrict from, long lane_stride, long fold_stride, int last, __global float *restrict to)
{
#if IS_LANE_UNIT && FOLD == 1
    if (last == WIDTH - 1) {
        vector_store_f32(to, PASTE(vector_, LOAD_FROM)(from));
        return;
    }
#endif
    for (int j = 0; j < WIDTH; j++)
        to[j] = LOAD_FROM(from, LANE_AT(min(j, last), lane_stride, fold_stride));
}

#define IS_TURNED (IS_X_UNIT && !(IS_LANE_UNIT && FOLD == 1))
#if IS_TURNED
/* Prefetches the same columns of the next y, which lie in another page: the hardware prefetcher can't predict them. */
#define PREFETCH_LANE(i, s) PREFETCH_STREAM(from_y + y_stride + x + LANE_AT(min(i, last), lane_stride, fold_stride));
#define LOAD_LANE(i, s) r[i] = PASTE(vector_, LOAD_FROM)(from_y + x + LANE_AT(min(i, last), lane_stride, fold_stride));
#define STORE_X(i, s) vector_store_f32(to_of_y + (x + i) * to_x, r[i]);
#endif

/* Copies `from` to `to`, where x counts columns and y rows of both. A work-item moves all x of item_ys y for one block of lanes; lanes
 * beyond the last batch get a copy of the last one. Neighbouring work-items take neighbouring lanes, which share pages. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_interleave(
    int lane_total, int xs, int ys, int item_ys, uint4 outer_size, __global const FROM_T *restrict from, const lane_operand from_at,
    __global float *restrict to, const lane_operand to_at)
{
    const int blocks = (lane_total + WIDTH - 1) / WIDTH;
    const int outer = (int)get_global_id(0) / blocks;
    const int lane = ((int)get_global_id(0) - outer * blocks) * WIDTH, last = min(WIDTH, lane_total - lane) - 1;
    const int first = (int)get_global_id(1) * item_ys, end = min(ys, first + item_ys);
    const long lane_stride = from_at.lane, fold_stride = from_at.fold, x_stride = from_at.column, y_stride = from_at.row;
    const long to_x = to_at.column, to_y = to_at.row;
    from += lane_operand_start(&from_at, (uint)outer, outer_size) + lane / FOLD * lane_stride;
    to += to_at.offset + (long)get_global_id(0) * to_at.block;
    for (int y = first; y < end; y++) {
        __global const FROM_T *const from_y = from + y * y_stride;
        __global float *const to_of_y = to + y * to_y;
        int x = 0;
#if IS_TURNED
        for (; x <= xs - WIDTH; x += WIDTH) {
            floatv r[WIDTH];
            EACH_LANE(PREFETCH_LANE)
            EACH_LANE(LOAD_LANE)
            transpose(r);
            EACH_LANE(STORE_X)
        }
#endif
        for (; x < xs; x++)
            interleave_x(from_y + x * x_stride, lane_stride, fold_stride, last, to_of_y + x * to_x);
    }
}

#else

#if !defined(IS_A_FOLDED) || !defined(HALF_WIDTH)
#error "IS_A_FOLDED: A is read where it lies, in two halves of HALF_WIDTH"
#endif
#if !defined(ROWS) || !defined(COLS) || !defined(IS_C_LANE_UNIT) || !defined(IS_C_QUAD) || !defined(IS_C_F32)
#error "ROWS: 1 to 6; COLS: 1 to 4; IS_C_LANE_UNIT: batches of c lie side by side; IS_C_QUAD: 4 columns of f32 c do; IS_C_F32; C_T, STORE_C"
#endif

#define COLS_1(F, i) F(i, 0)
#define COLS_2(F, i) COLS_1(F, i) F(i, 1)
#define COLS_3(F, i) COLS_2(F, i) F(i, 2)
#define COLS_4(F, i) COLS_3(F, i) F(i, 3)
#define EACH_COL(F, i) PASTE(COLS_, COLS)(F, i)

/* Prefetches the next piece of A while sums are computed: its strides are too large for the hardware prefetcher. */
#define PREFETCH_A(i) PREFETCH_FOR_READ(a_next + i * a_row_stride);

#define BLOCK_K 32
#define BLOCK_COLS 32

#define CLEAR(i, j) sum[i][j] = (floatv)(0.0f);
#define CLEAR_ROW(i) EACH_COL(CLEAR, i)
#define KEEP(i, j) kept[t][i][j] = sum[i][j];
#define KEEP_ROW(i) EACH_COL(KEEP, i)
#define FETCH(i, j) sum[i][j] = kept[t][i][j];
#define FETCH_ROW(i) EACH_COL(FETCH, i)
#define LOAD_B(i, j) bv[j] = vector_load_f32(b_tile + j * b_column_stride);
#define MULTIPLY_ADD(i, j) sum[i][j] = av * bv[j] + sum[i][j];
#if FOLD == 2 && IS_A_FOLDED
#define LOAD_A(p) (floatv)(PASTE(vload, HALF_WIDTH)(0, p), PASTE(vload, HALF_WIDTH)(0, (p) + a_fold_stride))
#else
#define LOAD_A(p) vector_load_f32(p)
#endif
#define ROW_STEP(i)                                           \
    {                                                         \
        const floatv av = LOAD_A(a_tile + i * a_row_stride);  \
        EACH_COL(MULTIPLY_ADD, i)                             \
    }
/* The same for vectors of A that may end past the end of the memory. */
#define LAST_ROW_STEP(i)                                                  \
    {                                                                     \
        const floatv av = load_inside(a_tile + i * a_row_stride, a_last); \
        EACH_COL(MULTIPLY_ADD, i)                                         \
    }
#define ADD_PRODUCTS(STEP)                 \
    for (int p = p_first; p < p_end; p++) { \
        floatv bv[COLS];                   \
        EACH_COL(LOAD_B, 0)                \
        EACH_ROW(STEP)                     \
        a_tile += a_k_stride;              \
        b_tile += b_k_stride;              \
    }
#define SCALE(i, j) sum[i][j] *= alpha;
#define SCALE_ROW(i) EACH_COL(SCALE, i)
#define STORE_LANES(i, j) store_lanes(c + c_tile + i * c_row_stride + j * c_column_stride, lanes, c_lane_stride, c_fold_stride, sum[i][j]);
#define STORE_ROW(i) EACH_COL(STORE_LANES, i)

/* WIDTH elements from p on; those past `last`, the last element of the memory, become 0. */
inline floatv load_inside(__global const float *p, __global const float *last)
{
    float lane[WIDTH];
    if (p + WIDTH - 1 <= last)
        return vector_load_f32(p);
    for (int i = 0; i < WIDTH; i++)
        lane[i] = p + i <= last ? p[i] : 0.0f;
    return VECTOR_LOAD(lane);
}

/* Stores the first `lanes` lanes. */
inline void store_lanes(__global C_T *restrict c, int lanes, long lane_stride, long fold_stride, floatv value)
{
#if IS_C_LANE_UNIT && FOLD == 1
    if (lanes == WIDTH) {
        PASTE(vector_, STORE_C)(c, value);
        return;
    }
#endif
#if IS_C_LANE_UNIT && HAS_SHUFFLES && IS_C_F32 && WIDTH == 16
#if FOLD == 2
    vstore8(value.lo, 0, c);
    vstore8(value.hi, 0, c + fold_stride);
    return;
#else
    if (lanes & 8) {
        vstore8(value.lo, 0, c);
        c += 8;
        lanes -= 8;
        value.lo = value.hi;
    }
    if (lanes == 4) {
        vstore4(value.s0123, 0, c);
        return;
    }
#endif
#endif
    float lane[WIDTH];
    VECTOR_STORE(value, lane);
    for (int l = 0; l < lanes; l++)
        STORE_C(c, LANE_AT(l, lane_stride, fold_stride), lane[l]);
}

#if HAS_SHUFFLES && IS_C_QUAD
#define QUAD(l, s)  \
    if (l < lanes)  \
        vstore4((float4)(sum[QUAD_ROW][0].s, sum[QUAD_ROW][1].s, sum[QUAD_ROW][2].s, sum[QUAD_ROW][3].s), 0, \
                c_row + LANE_AT(l, c_lane_stride, c_fold_stride));
#define STORE_QUADS(i)                                   \
    {                                                    \
        enum { QUAD_ROW = i };                           \
        __global C_T *c_row = c + c_tile + i * c_row_stride; \
        EACH_LANE(QUAD)                                  \
    }
#define STORE_TILE_ROW STORE_QUADS
#else
#define STORE_TILE_ROW STORE_ROW
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_interleaved(
    int m, int n, int k, int lane_total, uint4 outer_size, int super_blocks, int item_tiles, __global const float *restrict a_start,
    const lane_operand a_at, __global const float *restrict b, const lane_operand b_at, __global C_T *restrict c_start,
    const lane_operand c_at, float alpha)
{
    const int blocks = (lane_total + WIDTH - 1) / WIDTH;
    const int tiles_of_rows = (m + ROWS - 1) / ROWS, items_of_rows = (tiles_of_rows + item_tiles - 1) / item_tiles;
    const int super = (int)get_group_id(0) / (items_of_rows * super_blocks);
    const int in_super = (int)get_group_id(0) - super * items_of_rows * super_blocks;
    const int height = min(super_blocks, blocks - super * super_blocks);
    const int item = in_super / height;
    const int block = super * super_blocks + in_super - item * height;
    const uint outer = (uint)get_group_id(1);
    const int lanes = min(WIDTH, lane_total - block * WIDTH);
    const long a_row_stride = a_at.row, a_k_stride = a_at.column, a_fold_stride = a_at.fold;
    const long b_column_stride = b_at.row, b_k_stride = b_at.column; /* B is read transposed, as A is */
    const long c_row_stride = c_at.row, c_column_stride = c_at.column, c_lane_stride = c_at.lane, c_fold_stride = c_at.fold;
    __global const float *const a_last = a_start + a_at.end - 1;
    __global const float *const a_block = a_start + lane_operand_start(&a_at, outer, outer_size) + block * a_at.block;
    b += lane_operand_start(&b_at, outer, outer_size) + block * b_at.block;
    __global C_T *const c_block = c_start + lane_operand_start(&c_at, outer, outer_size) + block * c_at.block;

    const int item_rows = min(item_tiles, tiles_of_rows - item * item_tiles);
    const int pieces = (n + BLOCK_COLS - 1) / BLOCK_COLS * item_rows;
    for (int piece = 0; piece < pieces; piece++) {
        const int column_block = piece / item_rows, first = column_block * BLOCK_COLS;
        const int row = min((item * item_tiles + piece - column_block * item_rows) * ROWS, m - ROWS);
        const int tiles = (min(BLOCK_COLS, n - first) + COLS - 1) / COLS;
        __global const float *const a = a_block + row * a_row_stride;
        __global const float *const a_after = a + (item_rows > 1 ? ROWS * a_row_stride : a_at.block);
        __global C_T *const c = c_block + row * c_row_stride;
        const bool is_inside = IS_A_FOLDED || a + (ROWS - 1) * a_row_stride + (k - 1) * a_k_stride + WIDTH - 1 <= a_last;
        floatv kept[BLOCK_COLS / COLS + 1][ROWS][COLS];
        for (int p_first = 0; p_first < k; p_first += BLOCK_K) {
            const int p_end = min(k, p_first + BLOCK_K);
            const bool is_last_k = p_end == k;
            for (int t = 0; t < tiles; t++) {
                const int column = min(first + t * COLS, n - COLS);
                for (int p = t * BLOCK_K / tiles; p < (t + 1) * BLOCK_K / tiles; p++) {
                    __global const float *a_next = is_last_k ? a_after + p * a_k_stride : a + (p_end + p) * a_k_stride;
                    EACH_ROW(PREFETCH_A)
                }
                floatv sum[ROWS][COLS];
                if (p_first == 0) {
                    EACH_ROW(CLEAR_ROW)
                } else {
                    EACH_ROW(FETCH_ROW)
                }
                __global const float *a_tile = a + p_first * a_k_stride;
                __global const float *b_tile = b + column * b_column_stride + p_first * b_k_stride;
                if (is_inside) {
                    ADD_PRODUCTS(ROW_STEP)
                } else {
                    ADD_PRODUCTS(LAST_ROW_STEP)
                }
                if (!is_last_k) {
                    EACH_ROW(KEEP_ROW)
                    continue;
                }
                EACH_ROW(SCALE_ROW)
                const long c_tile = column * c_column_stride;
                EACH_ROW(STORE_TILE_ROW)
            }
        }
    }
}
#endif
