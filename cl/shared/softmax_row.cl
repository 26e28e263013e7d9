/* SPDX-License-Identifier: MIT */
/* Shared by the softmax kernels: finds a row and its masks, reads a score, and defines the weights of rows without a usable key.
 * Lengths and causality keep a prefix of the keys, so they shorten the row; the other masks replace a score by -inf. */
#include "types.cl"
#include "axes.cl"

#if !defined X_T || !defined Y_T
#error "X_T, Y_T with LOAD_X, STORE_Y: storage types"
#endif
#if !defined ROW_AXES
#error "ROW_AXES: merged axes of the rows"
#endif
#if !defined MASK || !defined PADDING || !defined ATTENTION || !defined BIAS
#error "MASK, PADDING, ATTENTION, BIAS: ABSENT, PER_KEY or PER_ROW"
#endif
#if !defined HAS_LENGTHS || !defined IS_CAUSAL || !defined EMPTY_ROWS
#error "HAS_LENGTHS, IS_CAUSAL: 0 or 1; EMPTY_ROWS: EMPTY_ROWS_x"
#endif

#define ABSENT 0
#define PER_KEY 1
#define PER_ROW 2 /* one value for all keys of a row */
#define EMPTY_ROWS_ZERO 0
#define EMPTY_ROWS_NAN 1
#define EMPTY_ROWS_UNIFORM 2

/* Sizes of the row axes and each operand's strides. `query` is not an operand: its offset is the row's index on the query axis. */
typedef struct row_axes {
    long dim[ROW_AXES];
    long x[ROW_AXES], y[ROW_AXES], mask[ROW_AXES], padding[ROW_AXES], attention[ROW_AXES], bias[ROW_AXES], lengths[ROW_AXES],
        query[ROW_AXES];
} row_axes;

typedef struct key_strides {
    int x, y, mask, padding, attention, bias;
} key_strides;

typedef struct softmax_row {
    __global const X_T *x;
    __global Y_T *y;
    __global const uchar *mask, *padding, *attention;
    __global const float *bias;
    int used; /* keys from here on are masked by lengths or causality */
} softmax_row;

#define ROW_PARAMETERS                                                                                                           \
    __global const X_T *x, long x_offset, __global Y_T *y, long y_offset, __global const uchar *mask, long mask_offset,         \
        __global const uchar *padding, long padding_offset, __global const uchar *attention, long attention_offset,             \
        __global const float *bias, long bias_offset, __global const int *lengths, long lengths_offset, row_axes axes,          \
        key_strides strides, long row_count, int keys, float scale, long causal_offset
#define ROW_START                                                                                                       \
    {x + x_offset, y + y_offset, mask + mask_offset, padding + padding_offset, attention + attention_offset, bias + bias_offset, keys}

/* Moves a row set up with ROW_START to row `index`. */
inline void select_row(softmax_row *r, const row_axes *axes, __global const int *lengths, long causal_offset, long index)
{
    r->x += axes_offset(axes->dim, axes->x, ROW_AXES, index);
    r->y += axes_offset(axes->dim, axes->y, ROW_AXES, index);
#if HAS_LENGTHS
    r->used = clamp(lengths[axes_offset(axes->dim, axes->lengths, ROW_AXES, index)], 0, r->used);
#endif
#if IS_CAUSAL
    const long causal = axes_offset(axes->dim, axes->query, ROW_AXES, index) + causal_offset + 1;
    r->used = (int)clamp(causal, 0L, (long)r->used);
#endif
#if MASK != ABSENT
    r->mask += axes_offset(axes->dim, axes->mask, ROW_AXES, index);
#endif
#if MASK == PER_ROW
    r->used = *r->mask ? r->used : 0;
#endif
#if PADDING != ABSENT
    r->padding += axes_offset(axes->dim, axes->padding, ROW_AXES, index);
#endif
#if PADDING == PER_ROW
    r->used = *r->padding ? r->used : 0;
#endif
#if ATTENTION != ABSENT
    r->attention += axes_offset(axes->dim, axes->attention, ROW_AXES, index);
#endif
#if ATTENTION == PER_ROW
    r->used = *r->attention ? r->used : 0;
#endif
#if BIAS != ABSENT
    r->bias += axes_offset(axes->dim, axes->bias, ROW_AXES, index);
#endif
}

/* The score of key j < used: -inf if a mask says so. */
inline float row_score(const softmax_row *r, const key_strides *strides, float scale, int j)
{
    float s = scale * LOAD_X(r->x, (long)j * strides->x);
#if BIAS == PER_KEY
    s += r->bias[(long)j * strides->bias];
#elif BIAS == PER_ROW
    s += *r->bias;
#endif
#if MASK == PER_KEY
    s = r->mask[(long)j * strides->mask] ? s : -INFINITY;
#endif
#if PADDING == PER_KEY
    s = r->padding[(long)j * strides->padding] ? s : -INFINITY;
#endif
#if ATTENTION == PER_KEY
    s = r->attention[(long)j * strides->attention] ? s : -INFINITY;
#endif
    return s;
}

/* The shift that is subtracted from scores: their maximum, or 0 where there is none. */
inline float row_shift(float maximum)
{
    return maximum == -INFINITY ? 0.0f : maximum;
}

/* The weight of every key where the sum of the exponentials is 0: no key is usable. */
inline float empty_weight(int keys)
{
#if EMPTY_ROWS == EMPTY_ROWS_NAN
    return NAN;
#elif EMPTY_ROWS == EMPTY_ROWS_UNIFORM
    return 1.0f / (float)keys;
#else
    return 0.0f;
#endif
}
