/* SPDX-License-Identifier: MIT */
/* Multiplies many rows of `a` with quantised weights on CPUs. The weights are stored in bundles of 16 interleaved rows
 * (weight_bundles.cl). Each weight is converted to float (d q + m) once for the ROWS rows of a tile, whose sums all stay in registers.
 * `a` is in panels, [panel][k][ROWS], with zeros after the last row (gemm_pack_lines.cl). */
#include "bundle_tile.cl"
#include "group_weights.cl"
#include "item.cl"

/* Number of lines that are unrolled together. More of them would make PoCL's compiler spill registers. With IS_IN_PLACE they are the four
 * lines of a quad. Their nibbles are not shifted down, so a group's factors are multiplied by LOW_PLACES and HIGH_PLACES instead
 * (bundle_lines.cl). */
#if IS_IN_PLACE
#define LINES 4
#define EACH_LINE(F) F(0) F(1) F(2) F(3)
#define DECLARE_PLACED floatv low_placed[VECTORS][LINES], high_placed[VECTORS][LINES];
#define PLACE(v, i)                                                    \
    low_placed[v][i] = low_factor[v] * (floatv)(LOW_PLACES.s##i);      \
    high_placed[v][i] = high_factor[v] * (floatv)(HIGH_PLACES.s##i);
#define PLACE_FACTORS(unused, v) PLACE(v, 0) PLACE(v, 1) PLACE(v, 2) PLACE(v, 3)
#define LOAD_LINE(i, v)                                                                                   \
    low_weight[v] = WEIGHT(LOW_IN_PLACE(quad(group[v], line), i), low_placed[v][i], shift[v]);            \
    high_weight[v] = WEIGHT(HIGH_IN_PLACE(quad(group[v], line), i), high_placed[v][i], shift[v]);
#else
#define LINES 1
#define EACH_LINE(F) F(0)
#define DECLARE_PLACED
#define PLACE_FACTORS(unused, v)
#define LOAD_LINE(i, v)                  \
    low_weight[v] = LOW_WEIGHT(v);       \
    high_weight[v] = HIGH_WEIGHT(v);
#endif
#define MULTIPLY_LINE(i)                                                          \
    {                                                                             \
        __global const float *x = a + (long)(column + line + i) * ROWS;           \
        floatv low_weight[VECTORS], high_weight[VECTORS];                         \
        EACH_VECTOR(LOAD_LINE, i)                                                 \
        EACH_ROW(ADD_LOW_ROW)                                                     \
        EACH_ROW(ADD_HIGH_ROW)                                                    \
    }

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_bundles_rows(ITEM_PARAMETERS int m, int n, int k, __global const float *restrict a, long a_offset,
                       __global const uchar *restrict b, __global const uchar *restrict gate, RESULT_PARAMETERS)
{
    const int first = (int)get_group_id(0) * COLUMN_BUNDLES, bundles = (n + BUNDLE - 1) / BUNDLE;
    const int first_row = (int)get_group_id(1) * ROWS, rows = min(ROWS, m - first_row);
    const long bundle_bytes = (long)(k / BLOCK_WEIGHTS) * UNIT_BYTES;
    __global const uchar *bundle[VECTORS], *group[VECTORS];
    floatv total[ROWS][VECTORS];
    DECLARE_GROUP
    DECLARE_PLACED
    a += a_offset + (long)first_row * k;
    EACH_VECTOR(FIND_BUNDLE, 0)
    EACH_ROW(START_ROW)
    floatv(*const sum)[VECTORS] = total;
    int column = 0;
    while (column < k) {
        EACH_VECTOR(LOAD_SCALE, 0)
        for (int g = 0; g < UNIT_GROUPS; g++) {
            LOAD_GROUP
            EACH_VECTOR(PLACE_FACTORS, 0)
            __attribute__((opencl_unroll_hint(1)))
            for (int line = 0; line < 16; line += LINES) {
                EACH_LINE(MULTIPLY_LINE)
            }
            column += 32;
        }
        EACH_VECTOR(NEXT_UNIT, 0)
    }
    floatv kept[ROWS * VECTORS];
    EACH_ROW(KEEP_ROW)
    store_tile(kept, first_row, rows, first, n, RESULT_ARGUMENTS);
}
