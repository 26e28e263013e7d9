/* SPDX-License-Identifier: MIT */
/* Converts the integers of a group to weights, integer * factor + shift, for kernels that do so once for many rows
 * (gemm_bundles_many.cl, gemm_bundles_parts.cl). */
#define LOAD_FACTORS(unused, v)                                \
    low_factor[v] = group_scale(d[v], group[v], 0);            \
    high_factor[v] = group_scale(d[v], group[v], HIGH_PART);
#if HAS_SHIFT
#define DECLARE_SHIFT floatv shift[VECTORS];
#define LOAD_SHIFT(unused, v) shift[v] = group_shift(bundle[v], d[v], group[v]);
#else
#define DECLARE_SHIFT
#define LOAD_SHIFT(unused, v)
#endif
#define DECLARE_GROUP                                               \
    floatv d[VECTORS], low_factor[VECTORS], high_factor[VECTORS];   \
    DECLARE_SHIFT                                                   \
    DECLARE_FIFTH
#define LOAD_GROUP                 \
    EACH_VECTOR(FIND_GROUP, 0)     \
    EACH_VECTOR(LOAD_FIFTH, 0)     \
    EACH_VECTOR(LOAD_FACTORS, 0)   \
    EACH_VECTOR(LOAD_SHIFT, 0)

/* Weights of the columns line and line + 16. */
#define LOW_WEIGHT(v) WEIGHT(low_line(LINE_ARGUMENTS(group[v], fifth[v]), line), low_factor[v], shift[v])
#define HIGH_WEIGHT(v) WEIGHT(high_line(LINE_ARGUMENTS(group[v], fifth[v]), line), high_factor[v], shift[v])

/* Adds the products of a line of the group and of x to row i of the sums. */
#define ADD_LOW(i, v) sum[i][v] = low_weight[v] * (floatv)(x[i]) + sum[i][v];
#define ADD_HIGH(i, v) sum[i][v] = high_weight[v] * (floatv)(x[16 * ROWS + i]) + sum[i][v];
#define ADD_LOW_ROW(i) EACH_VECTOR(ADD_LOW, i)
#define ADD_HIGH_ROW(i) EACH_VECTOR(ADD_HIGH, i)
