/* SPDX-License-Identifier: MIT */
/* Softmax on CPU devices for long rows of contiguous keys. One work-item takes whole rows with vectors of WIDTH floats. A row is read up to
 * three times, from a near cache after the first. Rows of up to KEPT_KEYS keys keep their exponentials in private memory until the sum is
 * known; longer ones keep them in y if y is f32, or compute them twice. Memory of y and of the next row is prefetched meanwhile. */
#include "softmax_vector_row.cl"

#if !defined(IS_Y_F32) || !defined(KEPT_KEYS)
#error "IS_Y_F32: 0 or 1; KEPT_KEYS: at least the row's keys, 0: none"
#endif

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

/* next, next_y: x and y of the row that follows, fetched while this one keeps the arithmetic busy. */
inline void softmax_one_row(const softmax_row *r, __global const X_T *next, __global Y_T *next_y, const key_strides *strides, float scale,
                            int keys)
{
    const float shift = row_shift(row_maximum(r, strides, scale, keys));
    const int whole = whole_keys(r);
    floatv sums = (floatv)(0.0f), tail = (floatv)(0.0f);
    if (whole < r->used) { /* before anything is stored: y may be x */
        tail = softmax_expv(last_scores(r, strides, scale, whole, keys) - shift);
        sums = uncounted(tail, whole, keys);
    }
#if KEPT_KEYS
    floatv kept[KEPT_KEYS / WIDTH];
#endif
    for (int j = 0; j < whole; j += WIDTH) {
        PREFETCH_STREAM(next + j);
        const floatv e = softmax_expv(row_scores(r, scale, j) - shift);
        sums += e;
#if KEPT_KEYS
        kept[j / WIDTH] = e;
        PREFETCH_STREAM(r->y + j);
#elif IS_Y_F32
        vector_store_f32(r->y + j, e);
#endif
    }
    const float sum = lane_sum(sums);
    if (sum == 0.0f) {
        store_empty_row(r, keys);
        return;
    }
    const float inverse = 1.0f / sum;
    for (int j = 0; j < whole; j += WIDTH) {
#if KEPT_KEYS
        const floatv e = kept[j / WIDTH];
#elif IS_Y_F32
        PREFETCH_STREAM(next_y + j);
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
