/* SPDX-License-Identifier: MIT */
/* Shared by softmax_vector.cl, softmax_overlapped.cl and softmax_lines.cl: scores in vectors of WIDTH contiguous keys or columns, the last
 * vector of a row, maxima, and masked ends of rows. */
#include "vector.cl"
#include "lane_max.cl"
#include "lane_sum.cl"
#include "prefetch.cl"
#include "softmax_exp.cl"
#include "softmax_row.cl"

#if !defined(IS_SCALED)
#error "IS_SCALED: scale is not 1"
#endif

DEFINE_SOFTMAX_EXP(softmax_expv, floatv, intv, AS_INTV, AS_FLOATV)

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

/* Scores of keys j .. j + WIDTH - 1, all < used. */
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

/* First key of the last vector, which holds the remaining keys from `whole` on, fewer than WIDTH. The vector starts earlier so that it lies
 * within the row, unless the row itself is shorter than a vector. */
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

/* Stores the weights from key `whole` on: those of the last vector, then `masked` up to the row's end. */
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

/* Number of used keys in whole vectors. */
inline int whole_keys(const softmax_row *r)
{
    return r->used - r->used % WIDTH;
}

/* The exponentials of the last vector, with 0 for keys that are in whole vectors too: those are in the sum already. */
inline floatv uncounted(floatv tail, int whole, int keys)
{
    return LANES + last_vector(whole, keys) < (intv)(whole) ? (floatv)(0.0f) : tail;
}

inline void store_empty_row(const softmax_row *r, int keys)
{
    for (int j = 0; j < keys; j++)
        STORE_Y(r->y, j, empty_weight(keys));
}
