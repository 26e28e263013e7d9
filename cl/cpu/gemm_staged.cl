/* SPDX-License-Identifier: MIT */
/* GEMM on CPU devices where only A or only C has its batches innermost (heads, as in "ijbh,jbhd->ibhd" and "nihd,njhd->nijh"). A work-item
 * takes LANES batches and computes one matrix after another in the tiles of gemm_packed. The operand with interleaved batches passes
 * through private memory.
 *
 * Such an A is staged in pieces of BLOCK_K of k, as vectors of batches. So each of its cache lines is fetched once, and each batch then
 * reads its own elements from the first-level cache. Results of such a C are kept until all batches of the tile are done, then transposed
 * in registers and written as vectors of batches. A work-item has TILES tiles of rows. If B of all its batches would not stay in the
 * second-level cache, the tiles take turns after every near_k of k. b is [batch][panel][k][VECTORS * WIDTH], zero-padded in n. The last
 * tile of rows starts at m - ROWS and computes some rows a second time. Tiles run in super-blocks of super_rows row tiles, which go through
 * B panel by panel. For each tile, `near` blocks of lanes are done in turn, because their A or C share pages of memory. */
#include "transpose.cl"
#include "gemm_lanes.cl"
#include "unroll.cl"
#include "prefetch.cl"

#if !defined(ROWS) || !defined(VECTORS) || !defined(LANES) || !defined(TILES) || !defined(BLOCK_K)
#error "ROWS: 1 to 8; VECTORS: 1 to 4; LANES: 4, 8 or 16, at most WIDTH; TILES of rows in a work-item; BLOCK_K: k of a staged piece; C_T, \
STORE_C"
#endif
#if !defined(IS_A_STAGED) || !defined(IS_C_STAGED) || !defined(IS_C_F32)
#error "IS_A_STAGED, IS_C_STAGED: that operand's batches lie side by side; IS_C_F32: 0 or 1"
#endif

#define PANEL (VECTORS * WIDTH)

#define CLEAR(i, v) sum[i][v] = (floatv)(0.0f);
#define CLEAR_ROW(i) EACH_VECTOR(CLEAR, i)
#define KEEP(i, v) kept[tile][lane][i][v] = sum[i][v];
#define KEEP_ROW(i) EACH_VECTOR(KEEP, i)
#define FETCH(i, v) sum[i][v] = kept[tile][lane][i][v];
#define FETCH_ROW(i) EACH_VECTOR(FETCH, i)
#define SCALE(i, v) sum[i][v] *= alpha;
#define SCALE_ROW(i) EACH_VECTOR(SCALE, i)
#define LOAD_B(unused, v) bv[v] = vector_load_f32(b_lane + v * WIDTH);
#define MULTIPLY_ADD(i, v) sum[i][v] = av * bv[v] + sum[i][v];
#define ROW_STEP(i)                                   \
    {                                                 \
        const floatv av = (floatv)(a_lane[i * A_ROW]); \
        EACH_VECTOR(MULTIPLY_ADD, i)                  \
    }
#define STORE(i, v) PASTE(vector_, STORE_C)(c_lane + i * c_row_stride + v * WIDTH, sum[i][v]);
#define STORE_ROW(i) EACH_VECTOR(STORE, i)
#define PREFETCH_A(i) PREFETCH_FOR_READ(a_next + i * a_row_stride);

#if IS_A_STAGED
typedef PASTE(float, LANES) lanev;
#define A_ROW (BLOCK_K * LANES)
#define A_STEP LANES

/* Copies ROWS x count vectors of lanes from a. Whole vectors are read unless they end past `last`, the last element of the memory. */
inline void stage(__private lanev *piece, __global const float *a, long row_stride, long k_stride, int count, __global const float *last)
{
    for (int i = 0; i < ROWS; i++, a += row_stride, piece += BLOCK_K) {
        int p = 0;
        for (; p < count && a + p * k_stride + LANES - 1 <= last; p++) {
#if LANES == WIDTH
            piece[p] = vector_load_f32(a + p * k_stride);
#else
            piece[p] = PASTE(vload, LANES)(0, a + p * k_stride);
#endif
        }
        for (; p < count; p++)
            for (int l = 0; l < LANES; l++)
                ((__private float *)(piece + p))[l] = a + p * k_stride + l <= last ? a[p * k_stride + l] : 0.0f;
    }
}
#else
#define A_ROW a_row_stride
#define A_STEP 1
#endif

#if IS_C_STAGED
/* Stores the first `lanes` lanes. */
inline void store_lanes(__global C_T *restrict c, int lanes, floatv value)
{
    if (lanes == WIDTH) {
        PASTE(vector_, STORE_C)(c, value);
        return;
    }
#if IS_C_F32 && WIDTH == 16
    if (lanes & 8) {
        vstore8(value.lo, 0, c);
        value.lo = value.hi;
        c += 8;
        lanes -= 8;
    }
    if (lanes & 4) {
        vstore4(value.s0123, 0, c);
        value.s0123 = value.s4567;
        c += 4;
        lanes -= 4;
    }
    if (lanes == 0)
        return;
#endif
    float lane[WIDTH];
    VECTOR_STORE(value, lane);
    for (int l = 0; l < lanes; l++)
        STORE_C(c, l, lane[l]);
}

#define LOAD_LANE(l, s) turned[l] = sums[l % LANES][i][v];
#define STORE_COLUMN(j, s) \
    if (j < columns)       \
        store_lanes(c_first + j * c_column_stride, lanes, turned[j]);

/* Stores a tile as vectors of batches. */
inline void store_turned(__private floatv (*sums)[ROWS][VECTORS], __global C_T *restrict c, long c_row_stride, long c_column_stride,
                         int count, int lanes)
{
    for (int i = 0; i < ROWS; i++)
        for (int v = 0; v < VECTORS; v++) {
            __global C_T *c_first = c + i * c_row_stride + v * WIDTH * c_column_stride;
            const int columns = min(WIDTH, count - v * WIDTH);
            floatv turned[WIDTH];
            EACH_LANE(LOAD_LANE)
            transpose(turned);
            EACH_LANE(STORE_COLUMN)
        }
}
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_staged(
    int m, int n, int k, int lane_total, uint4 outer_size, int near_k, int super_rows, int near, __global const float *restrict a,
    const lane_operand a_at, __global const float *restrict b, const lane_operand b_at, __global C_T *restrict c, const lane_operand c_at,
    float alpha)
{
    const int row_groups = (m + TILES * ROWS - 1) / (TILES * ROWS);
    const int panels = (n + PANEL - 1) / PANEL;
    const int index = (int)get_group_id(0) / near;
    const int super = index / (super_rows * panels);
    const int in_super = index - super * super_rows * panels;
    const int height = min(super_rows, row_groups - super * super_rows);
    const int panel = in_super / height;
    const int first_row = (super * super_rows + in_super - panel * height) * (TILES * ROWS);
    const int column = panel * PANEL;
    const int in_near = (int)get_group_id(0) - index * near;
    const int first_lane = ((int)get_group_id(1) * near + in_near) * LANES;
    const int lanes = min(LANES, lane_total - first_lane);
    const uint outer = (uint)get_group_id(2);
    if (lanes <= 0)
        return;

    const long a_row_stride = a_at.row, a_k_stride = a_at.column;
    const long c_row_stride = c_at.row, c_column_stride = c_at.column;
    __global const float *const a_last = a + a_at.end - 1;
    a += lane_operand_start(&a_at, outer, outer_size) + first_lane * a_at.lane;
    b += lane_operand_start(&b_at, outer, outer_size) + first_lane * b_at.lane + (long)column * k;
    c += lane_operand_start(&c_at, outer, outer_size) + first_lane * c_at.lane + column * c_column_stride;
    const int columns = min(PANEL, n - column);
    const int tiles = min(TILES, (m - first_row + ROWS - 1) / ROWS);
    floatv kept[TILES][LANES][ROWS][VECTORS];
#if IS_A_STAGED
    lanev piece[ROWS * BLOCK_K];
    const int block_k = BLOCK_K;
#else
    const int block_k = near_k;
#endif

    for (int near_begin = 0; near_begin < k; near_begin += near_k)
        for (int tile = 0; tile < tiles; tile++) {
            const int row = min(first_row + tile * ROWS, m - ROWS), near_end = min(k, near_begin + near_k);
            __global const float *a_tile = a + row * a_row_stride;
            __global C_T *c_tile = c + row * c_row_stride;
#if IS_A_STAGED
            /* offset of the piece that is staged after this tile's last one */
            const long to_next = TILES > 1 || in_near + 1 == near ? ROWS * a_row_stride - in_near * LANES + near_begin * a_k_stride : LANES;
#endif
            for (int begin = near_begin; begin < near_end; begin += block_k) {
                const int count = min(block_k, near_end - begin);
                const bool is_last = begin + count == k;
#if IS_A_STAGED
                stage(piece, a_tile + begin * a_k_stride, a_row_stride, a_k_stride, count, a_last);
#endif
                for (int lane = 0; lane < lanes; lane++) {
#if IS_A_STAGED
                    __private const float *a_lane = (__private const float *)piece + lane;
                    for (int p = lane; p < BLOCK_K; p += lanes) {
                        __global const float *a_next =
                            a_tile + p * a_k_stride + (begin + count == near_end ? to_next : (begin + BLOCK_K) * a_k_stride);
                        EACH_ROW(PREFETCH_A)
                    }
#else
                    __global const float *a_lane = a_tile + lane * a_at.lane + begin;
#endif
                    __global const float *b_lane = b + lane * b_at.lane + (long)begin * PANEL;
                    floatv sum[ROWS][VECTORS];
                    if (begin == 0) {
                        EACH_ROW(CLEAR_ROW)
                    } else {
                        EACH_ROW(FETCH_ROW)
                    }
                    for (int p = 0; p < count; p++) {
                        floatv bv[VECTORS];
                        EACH_VECTOR(LOAD_B, 0)
                        EACH_ROW(ROW_STEP)
                        a_lane += A_STEP;
                        b_lane += PANEL;
                    }
                    if (is_last) {
                        EACH_ROW(SCALE_ROW)
                    }
#if IS_C_STAGED
                    EACH_ROW(KEEP_ROW)
#else
                    __global C_T *c_lane = c_tile + lane * c_at.lane;
                    if (is_last && columns == PANEL) {
                        EACH_ROW(STORE_ROW)
                        continue;
                    }
                    EACH_ROW(KEEP_ROW)
                    if (is_last)
                        for (int i = 0; i < ROWS; i++)
                            for (int j = 0; j < columns; j++)
                                STORE_C(c_lane, i * c_row_stride + j, ((__private const float *)kept[tile][lane][i])[j]);
#endif
                }
            }
#if IS_C_STAGED
            if (near_end == k)
                store_turned(kept[tile], c_tile, c_row_stride, c_column_stride, columns, lanes);
#endif
        }
}
