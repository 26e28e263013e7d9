/* SPDX-License-Identifier: MIT */
/* Products of many rows with quantised weights in bundles. A work-item has VECTORS bundles and the sums of up to MOST_ROWS rows. It
 * converts DEPTH columns of its bundles to floats, multiplies all its rows by them, ROWS at a time, while they are in the first-level
 * cache, and goes on with the next DEPTH columns. The processor that makes the floats reads them, so none travels between caches. Sums add
 * their products in the order of the columns. Goto & van de Geijn 2008 block products in the same way. */
#include "bundle_tile.cl"
#include "group_weights.cl"
#include "item.cl"

#if !defined(MOST_ROWS) || !defined(DEPTH) || DEPTH % 32
#error "MOST_ROWS: a multiple of ROWS; DEPTH: columns that are converted at a time, a multiple of 32"
#endif

#define MAKE_LINE(unused, v)                                \
    weights[at + line][v] = LOW_WEIGHT(v);                  \
    weights[at + line + 16][v] = HIGH_WEIGHT(v);
#define LINE(j)                        \
    {                                  \
        const uint line = j;           \
        EACH_VECTOR(MAKE_LINE, 0)      \
    }
#define FIND_NEXT(unused, v) next[v] = group[v] + GROUP_BYTES;
#define PREFETCH_NEXT(unused, v) PREFETCH_STREAM(next[v] + byte);

#define FIND_INPUT(i) x[i] = a + (long)(min(row + i, rows - 1)) * a_row_stride + column;
#define READ_SUM(i, v) sum[i][v] = kept[(row + i) * VECTORS + v];
#define READ_SUM_ROW(i) EACH_VECTOR(READ_SUM, i)
#define WRITE_SUM(i, v) kept[(row + i) * VECTORS + v] = sum[i][v];
#define WRITE_SUM_ROW(i) EACH_VECTOR(WRITE_SUM, i)
#define FIND_WEIGHT(unused, v) weight[v] = weights[p][v];
#define MULTIPLY_ADD(i, v) sum[i][v] = input * weight[v] + sum[i][v];
#define MULTIPLY_ROW(i)                            \
    {                                              \
        const floatv input = (floatv)(x[i][p]);    \
        EACH_VECTOR(MULTIPLY_ADD, i)               \
    }

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_bundles_many(ITEM_PARAMETERS int m, int n, int k, __global const float *restrict a, long a_offset, long a_row_stride,
                       int most_rows, __global const uchar *restrict b, __global const uchar *restrict gate, RESULT_PARAMETERS)
{
    const int first = (int)get_group_id(0) * COLUMN_BUNDLES, bundles = (n + BUNDLE - 1) / BUNDLE;
    const int first_row = (int)get_group_id(1) * most_rows, rows = min(most_rows, m - first_row);
    const int tiles = (rows + ROWS - 1) / ROWS;
    const long bundle_bytes = (long)(k / BLOCK_WEIGHTS) * UNIT_BYTES;
    __global const uchar *bundle[VECTORS], *group[VECTORS], *next[VECTORS];
    floatv weights[DEPTH][VECTORS], kept[MOST_ROWS * VECTORS];
    DECLARE_GROUP
    a += a_offset + first_row * a_row_stride;
    EACH_VECTOR(FIND_BUNDLE, 0)
    for (int i = 0; i < tiles * ROWS * VECTORS; i++)
        kept[i] = (floatv)(0.0f);

    for (int column = 0; column < k; column += DEPTH) {
        const int depth = min(DEPTH, k - column), next_bytes = min(DEPTH, k - column - depth) / 32 * GROUP_BYTES;
        const int share = (next_bytes + 64 * tiles - 1) / (64 * tiles) * 64; /* bytes of the next columns that a row tile prefetches */
        for (int at = 0; at < depth; at += 32) {
            const int g = (column + at) / 32 % UNIT_GROUPS;
            if (g == 0) {
                if (column + at > 0) {
                    EACH_VECTOR(NEXT_UNIT, 0)
                }
                EACH_VECTOR(LOAD_SCALE, 0)
            }
            LOAD_GROUP
            LINES_16(LINE)
        }
        EACH_VECTOR(FIND_NEXT, 0)
        for (int tile = 0; tile < tiles; tile++) {
            const int row = tile * ROWS;
            __global const float *x[ROWS];
            floatv sum[ROWS][VECTORS];
            for (int byte = tile * share; byte < min((tile + 1) * share, next_bytes); byte += 64) {
                EACH_VECTOR(PREFETCH_NEXT, 0)
            }
            EACH_ROW(FIND_INPUT)
            EACH_ROW(READ_SUM_ROW)
            __attribute__((opencl_unroll_hint(1)))
            for (int p = 0; p < depth; p++) {
                floatv weight[VECTORS];
                EACH_VECTOR(FIND_WEIGHT, 0)
                EACH_ROW(MULTIPLY_ROW)
            }
            EACH_ROW(WRITE_SUM_ROW)
        }
    }
    store_tile(kept, first_row, rows, first, n, RESULT_ARGUMENTS);
}
