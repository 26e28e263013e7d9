/* SPDX-License-Identifier: MIT */
/* Products of many rows with weights in bundles, for processors whose registers hold the sums of PART_ROWS rows, a quarter of a tile. The
 * floats of a group stay in memory, and PART_ROWS rows after another are multiplied by them. Other units of the processor are idle
 * meanwhile, so the floats of the next group are made at the same time. Each part of the rows makes four lines of them, half a line after
 * every two lines of products. Sums add their products line by line, two columns of each. */
#include "bundle_tile.cl"
#include "group_weights.cl"
#include "item.cl"

#if !defined(PART_ROWS) || 4 * PART_ROWS != ROWS
#error "PART_ROWS: a quarter of ROWS"
#endif
#define EACH_PART_ROW(F) PASTE(ROWS_, PART_ROWS)(F)

/* Floats of a group: [low, high][line][vector]. */
#define MAKE_LOW_VECTOR(unused, v) next[0][line][v] = LOW_WEIGHT(v);
#define MAKE_HIGH_VECTOR(unused, v) next[1][line][v] = HIGH_WEIGHT(v);
#define MAKE(half, j)                              \
    {                                              \
        const uint line = j;                       \
        EACH_VECTOR(MAKE_##half##_VECTOR, 0)       \
    }
#define FIND_LINE(unused, v)            \
    low_weight[v] = now[0][line][v];    \
    high_weight[v] = now[1][line][v];
#define MULTIPLY(j)                                          \
    {                                                        \
        const int line = j;                                  \
        __global const float *x = part_a + line * ROWS;      \
        floatv low_weight[VECTORS], high_weight[VECTORS];    \
        EACH_VECTOR(FIND_LINE, 0)                            \
        EACH_PART_ROW(ADD_LOW_ROW)                           \
        EACH_PART_ROW(ADD_HIGH_ROW)                          \
    }
#define MULTIPLY_AND_MAKE(i)                        \
    MULTIPLY(4 * i) MULTIPLY(4 * i + 1)             \
    MAKE(LOW, made + i)                             \
    MULTIPLY(4 * i + 2) MULTIPLY(4 * i + 3)         \
    MAKE(HIGH, made + i)
#define READ_SUM(i, v) sum[i][v] = total[part + i][v];
#define READ_SUM_ROW(i) EACH_VECTOR(READ_SUM, i)
#define WRITE_SUM(i, v) total[part + i][v] = sum[i][v];
#define WRITE_SUM_ROW(i) EACH_VECTOR(WRITE_SUM, i)

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_bundles_parts(ITEM_PARAMETERS int m, int n, int k, __global const float *restrict a, long a_offset,
                        __global const uchar *restrict b, __global const uchar *restrict gate, RESULT_PARAMETERS)
{
    const int first = (int)get_group_id(0) * COLUMN_BUNDLES, bundles = (n + BUNDLE - 1) / BUNDLE;
    const int first_row = (int)get_group_id(1) * ROWS, rows = min(ROWS, m - first_row);
    const long bundle_bytes = (long)(k / BLOCK_WEIGHTS) * UNIT_BYTES;
    __global const uchar *bundle[VECTORS], *group[VECTORS];
    floatv total[ROWS][VECTORS], weights[2][2][16][VECTORS];
    DECLARE_GROUP
    a += a_offset + (long)first_row * k;
    EACH_VECTOR(FIND_BUNDLE, 0)
    EACH_ROW(START_ROW)

    /* The first pass, column -32, only makes the floats of the first group. */
    for (int column = -32; column < k; column += 32) {
        floatv(*const now)[16][VECTORS] = weights[column / 32 & 1], (*const next)[16][VECTORS] = weights[column / 32 + 1 & 1];
        if (column + 32 < k) { /* after the last group the old one is made again, unused */
            const int g = (column / 32 + 1) % UNIT_GROUPS;
            if (g == 0 && column >= 0) {
                EACH_VECTOR(NEXT_UNIT, 0)
            }
            if (g == 0) {
                EACH_VECTOR(LOAD_SCALE, 0)
            }
            LOAD_GROUP
        }
        uint made = 0;
        for (int part = 0; part < (column < 0 ? 0 : rows); part += PART_ROWS) {
            __global const float *part_a = a + (long)column * ROWS + part;
            floatv sum[PART_ROWS][VECTORS];
            EACH_PART_ROW(READ_SUM_ROW)
            MULTIPLY_AND_MAKE(0)
            MULTIPLY_AND_MAKE(1)
            MULTIPLY_AND_MAKE(2)
            MULTIPLY_AND_MAKE(3)
            EACH_PART_ROW(WRITE_SUM_ROW)
            made += 4;
        }
        for (; made < 16; made++) {
            MAKE(LOW, made)
            MAKE(HIGH, made)
        }
    }
    floatv kept[ROWS * VECTORS];
    EACH_ROW(KEEP_ROW)
    store_tile(kept, first_row, rows, first, n, RESULT_ARGUMENTS);
}
