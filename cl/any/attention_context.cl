/* SPDX-License-Identifier: MIT */
/* Weights times values of attention: a work-item computes ROWS queries by one vector of WIDTH columns. A masked key has no effect even if
 * its value is NaN, whereas a plain matrix product would compute 0 times NaN. Masked keys do count where their weight is not 0: in rows
 * without a usable key whose policy is uniform or NaN. */
#include "vector.cl"
#include "axes.cl"
#include "attention_keep_bits.cl"

#if !defined WEIGHT_T || !defined V_T || !defined OUT_T
#error "WEIGHT_T, V_T, OUT_T with LOAD_WEIGHT, LOAD_V, STORE_OUT: storage types"
#endif
#ifndef AXES
#error "AXES: merged batch axes"
#endif

#define ROWS 4

typedef struct batch_axes {
    long dim[AXES], weights[AXES], v[AXES], out[AXES], keep[AXES];
} batch_axes;

typedef struct matrix_strides {
    long row, column;
} matrix_strides;

#if WIDTH == 1
#define LOAD_VALUES(p, column_stride, c) LOAD_V(p, (c) * (column_stride))
#define STORE_VALUES(p, column_stride, c, x) STORE_OUT(p, (c) * (column_stride), x)
#else
#define LOAD_VALUES(p, column_stride, c) PASTE(vector_, LOAD_V)((p) + (c))
#define STORE_VALUES(p, column_stride, c, x) PASTE(vector_, STORE_OUT)((p) + (c), x)
#endif

/* Work-groups: (vectors of columns, blocks of queries, batches). */
__kernel void attention_context(__global const WEIGHT_T *weights, long weights_offset, matrix_strides ws, __global const V_T *v,
                                long v_offset, matrix_strides vs, __global OUT_T *out, long out_offset, matrix_strides os,
                                __global const uint *keep, long keep_offset, long keep_block, batch_axes axes, int queries, int keys,
                                int columns)
{
    const int column = (int)get_global_id(0) * WIDTH;
    if (column >= columns)
        return;
    const int first = (int)get_group_id(1) * ROWS, last = queries - 1;
    const long batch = (long)get_group_id(2);
    weights += weights_offset + axes_offset(axes.dim, axes.weights, AXES, batch);
    v += v_offset + axes_offset(axes.dim, axes.v, AXES, batch);
    out += out_offset + axes_offset(axes.dim, axes.out, AXES, batch);
    keep += keep_offset + axes_offset(axes.dim, axes.keep, AXES, batch) + first / KEEP_QUERIES * keep_block;
    __global const WEIGHT_T *w0 = weights + first * ws.row, *w1 = weights + min(first + 1, last) * ws.row;
    __global const WEIGHT_T *w2 = weights + min(first + 2, last) * ws.row, *w3 = weights + min(first + 3, last) * ws.row;
    floatv sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
    for (int j = 0; j < keys; j++) {
        const floatv value = LOAD_VALUES(v + j * vs.row, vs.column, column);
        const uint bits = keep[j] >> first % KEEP_QUERIES;
#define ADD(i)                                                                         \
    {                                                                                  \
        const float weight = LOAD_WEIGHT(w##i, j * ws.column);                         \
        const bool is_left_out = weight == 0.0f && (bits >> i & 1u) == 0;              \
        sum##i = fma((floatv)(weight), is_left_out ? (floatv)(0.0f) : value, sum##i);  \
    }
        ADD(0) ADD(1) ADD(2) ADD(3)
    }
#define STORE(i)                                                                       \
    if (first + i <= last)                                                             \
        STORE_VALUES(out + (first + i) * os.row, os.column, column, sum##i);
    STORE(0) STORE(1) STORE(2) STORE(3)
}
