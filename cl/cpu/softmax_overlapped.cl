/* SPDX-License-Identifier: MIT */
/* Softmax on CPU devices for rows of up to KEPT_KEYS contiguous keys. One work-item takes many rows with vectors of WIDTH floats. A row
 * passes three stages: its maximum, its exponentials with their sum, and its weights. While one row is at the second stage, whose
 * arithmetic takes longest, the next row is at the first stage and the previous one at the third. So no stage waits for a sum over lanes of
 * the stage before, and memory is read and written all the time. Later rows are prefetched. */
#include "softmax_vector_row.cl"

#if !defined(KEPT_KEYS)
#error "KEPT_KEYS: at least the row's keys"
#endif

#define READ_AHEAD 6144 /* bytes to prefetch ahead; they cover the latency of caches beyond the second level */

#define MAXIMUM(j, m)                               \
    {                                               \
        PREFETCH_STREAM(next.x + (j) + ahead);      \
        m = larger(row_scores(&next, scale, j), m); \
    }
#define EXPONENTIAL(j, sum)                                                             \
    {                                                                                   \
        const floatv e = softmax_expv_of(row_scores(&row, scale, j) - shift, &numbers); \
        sum += e;                                                                       \
        kept_now[(j) / WIDTH] = e;                                                      \
        PREFETCH_STREAM(row.y + (j));                                                   \
    }
#define WEIGHT(j) PASTE(vector_, STORE_Y)(last.y + (j), kept_last[(j) / WIDTH] * inverse);

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void softmax_overlapped(ROW_PARAMETERS, int rows_per_item)
{
    const long first = (long)get_group_id(0) * rows_per_item, end = min(first + rows_per_item, row_count);
    const int row_bytes = max(keys, 1) * (int)sizeof(X_T), rows_ahead = (READ_AHEAD + row_bytes - 1) / row_bytes;
    const softmax_row start = ROW_START;
    softmax_row next = start, row = start, last = start;
    const softmax_exp_numbers numbers = softmax_exp_unknown_numbers();
    long ahead = 0; /* elements from a row of x to the row that is prefetched */
    int whole = 0, last_whole = 0;
    bool has_last = false;
    floatv tail = (floatv)(0.0f), last_tail = tail, m0 = MINUS_INFINITY, m1 = m0;
    float shift = 0.0f, inverse = 0.0f;
    floatv kept[2][KEPT_KEYS / WIDTH];
    select_row(&next, &axes, lengths + lengths_offset, causal_offset, first);
    int next_whole = whole_keys(&next);
    for (int j = 0; j < next_whole; j += WIDTH)
        MAXIMUM(j, m0)
    for (long index = first; index <= end; index++) { /* the last pass only stores */
        floatv *const kept_now = kept[index & 1], *const kept_last = kept[(index & 1) ^ 1];
        floatv sum0 = (floatv)(0.0f), sum1 = sum0;
        row = next;
        whole = next_whole;
        next_whole = 0;
        if (index < end && whole < row.used)
            m0 = larger(last_scores(&row, &strides, scale, whole, keys), m0);
        shift = row_shift(lane_max(larger(m0, m1)));
        m0 = m1 = MINUS_INFINITY;
        if (index < end && whole < row.used) { /* before anything is stored: y may be x */
            tail = softmax_expv_of(last_scores(&row, &strides, scale, whole, keys) - shift, &numbers);
            sum1 = uncounted(tail, whole, keys);
        }
        if (index + 1 < end) {
            next = start;
            select_row(&next, &axes, lengths + lengths_offset, causal_offset, index + 1);
            next_whole = whole_keys(&next);
            ahead = (next.x - row.x) * rows_ahead;
        }
#if HAS_LENGTHS || IS_CAUSAL
        for (int i = whole; i < keys; i += WIDTH)
            PREFETCH_STREAM(row.y + i);
#endif

        const int common = min(whole, min(next_whole, last_whole));
        int j = 0;
        for (; j <= common - 2 * WIDTH; j += 2 * WIDTH) {
            EXPONENTIAL(j, sum0)
            EXPONENTIAL(j + WIDTH, sum1)
            MAXIMUM(j, m0)
            MAXIMUM(j + WIDTH, m1)
            WEIGHT(j)
            WEIGHT(j + WIDTH)
        }
        for (int i = j; i < whole; i += WIDTH)
            EXPONENTIAL(i, sum0)
        for (int i = j; i < next_whole; i += WIDTH)
            MAXIMUM(i, m0)
        for (int i = j; i < last_whole; i += WIDTH)
            WEIGHT(i)
        if (has_last)
            store_tail(&last, last_tail * inverse, 0.0f * inverse, last_whole, keys); /* masked: 0, or NaN in a row that holds one */

        const float sum = lane_sum(sum0 + sum1);
        has_last = index < end && sum != 0.0f;
        if (index < end && sum == 0.0f)
            store_empty_row(&row, keys);
        inverse = 1.0f / sum;
        last = row;
        last_whole = has_last ? whole : 0;
        last_tail = tail;
    }
}
