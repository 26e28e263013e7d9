/* SPDX-License-Identifier: MIT */
/* Finds the bundles of a product's tile and stores its sums, for the kernels that multiply weights in bundles. A tile is ROWS rows of A
 * times VECTORS bundles, whose lanes are rows of the weight. IS_GATED: the two bundles of a work-item are the same rows of two weights, and
 * the result is f(a b + bias) * (a gate). */
#include "bundle_lines.cl"
#include "result_parts.cl"
#include "gemm_common.cl"
#include "unroll.cl"
#include "prefetch.cl"

#if !defined(ROWS) || !defined(VECTORS) || !defined(IS_C_VECTOR) || !defined(IS_GATED)
#error "ROWS: 1 to 16; VECTORS: 1 to 4 bundles of a work-item; IS_C_VECTOR: columns of c and residual contiguous, blocks of whole vectors; \
IS_GATED: 0 or 1"
#endif

#if IS_GATED
#define COLUMN_BUNDLES 1
#define FIND_BUNDLE(unused, v) bundle[v] = (v ? gate : b) + first * bundle_bytes;
#define GATED(value, i) ((value) * sums[(i) * VECTORS + VECTORS - 1])
#else
#define COLUMN_BUNDLES VECTORS
#define FIND_BUNDLE(unused, v) bundle[v] = b + min(first + v, bundles - 1) * bundle_bytes;
#define GATED(value, i) (value)
#endif
#define FIND_GROUP(unused, v) group[v] = bundle[v] + HEAD_BYTES + g * GROUP_BYTES;
#if HAS_FIFTH_BITS
#define DECLARE_FIFTH uintv fifth[VECTORS];
#define LOAD_FIFTH(unused, v) fifth[v] = vload16(0, (__global const uint *)(group[v] + SCALES_BYTES));
#else
#define DECLARE_FIFTH
#define LOAD_FIFTH(unused, v)
#endif
/* Reads the scales of a unit. Hardware does not prefetch beyond the end of a short bundle, so the bytes from AHEAD on are prefetched here.
 * Long bundles are read faster without such hints. */
#define AHEAD 16384
#define LOAD_SCALE(unused, v)                                   \
    d[v] = unit_half(bundle[v], 0);                             \
    if (bundle_bytes < AHEAD) {                                 \
        for (int byte = 0; byte < UNIT_BYTES; byte += 64)       \
            PREFETCH_STREAM(bundle[v] + AHEAD + byte);          \
    }
#define NEXT_UNIT(unused, v) bundle[v] += UNIT_BYTES;

#define START(i, v) total[i][v] = (floatv)(0.0f);
#define START_ROW(i) EACH_VECTOR(START, i)
#define KEEP(i, v) kept[(i) * VECTORS + v] = total[i][v];
#define KEEP_ROW(i) EACH_VECTOR(KEEP, i)

/* Stores sums [ROWS][VECTORS] of the rows from first_row on and the bundles from `first` on. */
inline void store_tile(const floatv *sums, int first_row, int rows, int first, int n, RESULT_PARAMETERS)
{
    for (int i = 0; i < rows; i++) {
        const int row = first_row + i;
        for (int v = 0; v < COLUMN_BUNDLES && (first + v) * BUNDLE < n; v++) {
            const int at = (first + v) * BUNDLE;
            const floatv sum = sums[i * VECTORS + v];
            const floatv bias_value = HAS_BIAS ? VECTOR_LOAD(bias + bias_offset + at) : (floatv)(0.0f);
            store_vector(GATED(FINISH(sum, bias_value), i), 0, row, at, n, RESULT_ARGUMENTS);
        }
    }
}
