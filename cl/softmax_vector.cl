/* SPDX-License-Identifier: MIT */
/* Softmax for CPU devices: one work-item takes whole rows with vectors of WIDTH floats; keys lie next to each other. A row is read three times
 * and stays in the first-level cache meanwhile. Rows of up to KEPT_KEYS keep their exponentials in private memory until the sum is known,
 * longer ones in y where it is f32. The memory of y and of the next row is asked for during the exponentials, which leave time for it. */
#include "vector.cl"
#include "lane_sum.cl"
#include "prefetch.cl"
#include "softmax_exp.cl"
#include "softmax_row.cl"

#if !defined(IS_Y_F32) || !defined(IS_SCALED) || !defined(KEPT_KEYS)
#error "IS_Y_F32, IS_SCALED (scale is not 1): 0 or 1; KEPT_KEYS: at least the row's keys, 0: none"
#endif

DEFINE_SOFTMAX_EXP(softmax_expv, floatv, intv, AS_INTV, AS_FLOATV)

inline float lane_max(floatv v)
{
#if WIDTH == 16
    const float8 half_max = fmax(v.lo, v.hi);
    const float4 quarter_max = fmax(half_max.lo, half_max.hi);
#elif WIDTH == 8
    const float4 quarter_max = fmax(v.lo, v.hi);
#elif WIDTH == 4
    const float4 quarter_max = v;
#endif
#if WIDTH == 1
    return v;
#else
    const float2 pair = fmax(quarter_max.lo, quarter_max.hi);
    return fmax(pair.x, pair.y);
#endif
}

#if WIDTH == 16
#define LANES ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#elif WIDTH == 8
#define LANES ((int8)(0, 1, 2, 3, 4, 5, 6, 7))
#elif WIDTH == 4
#define LANES ((int4)(0, 1, 2, 3))
#else
#define LANES 0
#endif

#define MINUS_INFINITY ((floatv)(-INFINITY))
#define KEEP(p, j, s) (PASTE_CONVERT_INT(VECTOR_LOAD((p) + (j))) != (intv)(0) ? (s) : MINUS_INFINITY)
#if WIDTH == 1
#define PASTE_CONVERT_INT convert_int
#else
#define PASTE_CONVERT_INT PASTE(convert_int, WIDTH)
#endif

/* Scores of keys j .. j+WIDTH, all < used. */
inline floatv row_scores(const softmax_row *r, float scale, int j)
{
    floatv s = PASTE(vector_, LOAD_X)(r->x + j);
#if IS_SCALED
    s *= scale;
#endif
#if BIAS == PER_KEY
    s += vector_load_f32(r->bias + j);
#elif BIAS == PER_ROW
    s += *r->bias;
#endif
#if MASK == PER_KEY
    s = KEEP(r->mask, j, s);
#endif
#if PADDING == PER_KEY
    s = KEEP(r->padding, j, s);
#endif
#if ATTENTION == PER_KEY
    s = KEEP(r->attention, j, s);
#endif
    return s;
}

/* First key of the vector that holds the fewer than WIDTH keys from `whole` on: all of it lies in the row, unless the row itself is shorter. */
inline int last_vector(int whole, int keys)
{
    return keys < WIDTH ? 0 : min(whole, keys - WIDTH);
}

/* Scores of that vector, -inf for keys that are not used. */
inline floatv last_scores(const softmax_row *r, const key_strides *strides, float scale, int whole, int keys)
{
    if (keys >= WIDTH) {
        const int first = last_vector(whole, keys);
        return LANES + first < (intv)(r->used) ? row_scores(r, scale, first) : MINUS_INFINITY;
    }
    float s[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        s[i] = i < r->used ? row_score(r, strides, scale, i) : -INFINITY;
    return VECTOR_LOAD(s);
}

inline floatv larger(floatv s, floatv maximum)
{
    return s > maximum ? s : maximum; /* one instruction; a NaN score does not become the maximum, but its weight is NaN */
}

inline float row_maximum(const softmax_row *r, const key_strides *strides, float scale, int keys)
{
    floatv m0 = MINUS_INFINITY, m1 = MINUS_INFINITY, m2 = MINUS_INFINITY, m3 = MINUS_INFINITY;
    int j = 0;
    for (; j <= r->used - 4 * WIDTH; j += 4 * WIDTH) {
        m0 = larger(row_scores(r, scale, j), m0);
        m1 = larger(row_scores(r, scale, j + WIDTH), m1);
        m2 = larger(row_scores(r, scale, j + 2 * WIDTH), m2);
        m3 = larger(row_scores(r, scale, j + 3 * WIDTH), m3);
    }
    for (; j <= r->used - WIDTH; j += WIDTH)
        m0 = larger(row_scores(r, scale, j), m0);
    if (j < r->used)
        m0 = larger(last_scores(r, strides, scale, j, keys), m0);
    return lane_max(larger(larger(m0, m1), larger(m2, m3)));
}

/* The weights from key `whole` on: those of the last vector, then `masked` to the row's end. */
inline void store_tail(const softmax_row *r, floatv tail, float masked, int whole, int keys)
{
    int j = whole;
    if (whole < r->used && keys >= WIDTH) {
        j = last_vector(whole, keys);
        PASTE(vector_, STORE_Y)(r->y + j, tail);
        j += WIDTH;
    } else if (whole < r->used) {
        float s[WIDTH];
        VECTOR_STORE(tail, s);
        for (; j < r->used; j++)
            STORE_Y(r->y, j, s[j]);
    }
    for (; j <= keys - WIDTH; j += WIDTH)
        PASTE(vector_, STORE_Y)(r->y + j, (floatv)(masked));
    for (; j < keys; j++)
        STORE_Y(r->y, j, masked);
}

/* next, next_y: x and y of the row that follows, fetched while this one keeps the arithmetic busy. */
inline void softmax_one_row(const softmax_row *r, __global const X_T *next, __global Y_T *next_y, const key_strides *strides, float scale,
                            int keys)
{
    const float shift = row_shift(row_maximum(r, strides, scale, keys));
    const int whole = r->used - r->used % WIDTH;
    floatv sums = (floatv)(0.0f), tail = (floatv)(0.0f);
#if KEPT_KEYS
    floatv kept[KEPT_KEYS / WIDTH];
#endif
    for (int j = 0; j < whole; j += WIDTH) {
        PREFETCH_FOR_READ(next + j);
        const floatv e = softmax_expv(row_scores(r, scale, j) - shift);
        sums += e;
#if KEPT_KEYS
        kept[j / WIDTH] = e;
        PREFETCH_FOR_WRITE(r->y + j);
#elif IS_Y_F32
        vector_store_f32(r->y + j, e);
#endif
    }
    if (whole < r->used) {
        tail = softmax_expv(last_scores(r, strides, scale, whole, keys) - shift);
        sums += LANES + last_vector(whole, keys) < (intv)(whole) ? (floatv)(0.0f) : tail; /* the others have been counted */
    }
    const float sum = lane_sum(sums);
    if (sum == 0.0f) {
        for (int j = 0; j < keys; j++)
            STORE_Y(r->y, j, empty_weight(keys));
        return;
    }
    const float inverse = 1.0f / sum;
    for (int j = 0; j < whole; j += WIDTH) {
#if KEPT_KEYS
        const floatv e = kept[j / WIDTH];
#elif IS_Y_F32
        PREFETCH_FOR_WRITE(next_y + j);
        const floatv e = vector_load_f32(r->y + j);
#else
        const floatv e = softmax_expv(row_scores(r, scale, j) - shift);
#endif
        PASTE(vector_, STORE_Y)(r->y + j, e * inverse);
    }
    store_tail(r, tail * inverse, 0.0f * inverse, whole, keys); /* masked: 0, or NaN in a row that holds one */
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void softmax_vector(ROW_PARAMETERS, int rows_per_item)
{
    const long first = (long)get_group_id(0) * rows_per_item, end = min(first + rows_per_item, row_count);
    const softmax_row start = ROW_START;
    softmax_row next = start;
    select_row(&next, &axes, lengths + lengths_offset, causal_offset, first);
    for (long index = first; index < end; index++) {
        const softmax_row r = next;
        next = start;
        select_row(&next, &axes, lengths + lengths_offset, causal_offset, min(index + 1, end - 1));
        softmax_one_row(&r, next.x, next.y, &strides, scale, keys);
    }
}
