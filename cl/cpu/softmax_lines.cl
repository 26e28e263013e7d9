/* SPDX-License-Identifier: MIT */
/* Softmax on CPU devices for rows whose keys (elements) are not contiguous, while the same key of neighbouring rows is. A line is `columns`
 * such rows, and each of its columns is one row. A vector holds one key of WIDTH rows, so nothing is summed over lanes. A work-item reads a
 * block of columns twice. The first pass computes the maximum and the sum of each column, KEYS keys at a time in registers, and rescales
 * the sum where the maximum rises (Milakov & Gimelshein 2018). The second pass writes the weights. */
#include "softmax_vector_row.cl"

#if !defined(MASK_COLUMN) || !defined(PADDING_COLUMN) || !defined(ATTENTION_COLUMN) || !defined(BIAS_COLUMN)
#error "MASK_COLUMN, PADDING_COLUMN, ATTENTION_COLUMN, BIAS_COLUMN: 1 where columns have their own, lying next to each other; 0: one for \
all"
#endif
#ifndef BLOCK
#error "BLOCK: columns of a work-item, a multiple of WIDTH; the last one of a line takes up to twice as many"
#endif

#define EACH_KEY(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define KEYS 8

#define KEEP_COLUMN(p, is_column, c, s) ((is_column) ? KEEP(p, c, s) : *(p) ? (s) : MINUS_INFINITY)

/* Scores of key j in the columns from c on. */
inline floatv column_scores(const softmax_row *r, const key_strides *strides, float scale, int j, int c)
{
    floatv s = PASTE(vector_, LOAD_X)(r->x + (long)j * strides->x + c);
#if IS_SCALED
    s *= scale;
#endif
#if BIAS != ABSENT
    __global const float *bias = r->bias + (long)j * strides->bias;
    s += BIAS_COLUMN ? vector_load_f32(bias + c) : (floatv)(*bias);
#endif
#if MASK != ABSENT
    s = KEEP_COLUMN(r->mask + (long)j * strides->mask, MASK_COLUMN, c, s);
#endif
#if PADDING != ABSENT
    s = KEEP_COLUMN(r->padding + (long)j * strides->padding, PADDING_COLUMN, c, s);
#endif
#if ATTENTION != ABSENT
    s = KEEP_COLUMN(r->attention + (long)j * strides->attention, ATTENTION_COLUMN, c, s);
#endif
    return s;
}

/* shift: each column's maximum, 0 if it has no usable key. sum: the sum of its exponentials. The last vector of a block ends at the block's
 * end and may overlap the vector before. */
inline void sum_columns(const softmax_row *r, const key_strides *strides, float scale, int count, floatv *shift, floatv *sum,
                        const softmax_exp_numbers *numbers)
{
    const int vectors = (count + WIDTH - 1) / WIDTH;
    for (int v = 0; v < vectors; v++) {
        shift[v] = MINUS_INFINITY;
        sum[v] = (floatv)(0.0f);
    }
    int j = 0;
    for (; j <= r->used - KEYS; j += KEYS) {
        for (int v = 0; v < vectors; v++) {
            const int c = min(v * WIDTH, count - WIDTH);
            floatv largest = shift[v], total = (floatv)(0.0f);
#define SCORE(i) const floatv s##i = column_scores(r, strides, scale, j + i, c);
            EACH_KEY(SCORE)
#define RAISE(i) largest = larger(s##i, largest);
            EACH_KEY(RAISE)
            const floatv by = largest == MINUS_INFINITY ? (floatv)(0.0f) : largest;
#define ADD(i) total += softmax_expv_of(s##i - by, numbers);
            EACH_KEY(ADD)
            sum[v] = fma(sum[v], softmax_expv_of(shift[v] - by, numbers), total);
            shift[v] = largest;
        }
    }
    for (; j < r->used; j++) {
        for (int v = 0; v < vectors; v++) {
            const floatv s = column_scores(r, strides, scale, j, min(v * WIDTH, count - WIDTH)), largest = larger(s, shift[v]);
            const floatv by = largest == MINUS_INFINITY ? (floatv)(0.0f) : largest;
            sum[v] = fma(sum[v], softmax_expv_of(shift[v] - by, numbers), softmax_expv_of(s - by, numbers));
            shift[v] = largest;
        }
    }
    for (int v = 0; v < vectors; v++)
        shift[v] = shift[v] == MINUS_INFINITY ? (floatv)(0.0f) : shift[v];
}

/* The factor that turns exponentials into weights: 1 / sum. A column without a usable key has NaN (EMPTY_ROWS_NAN) or 0; column_weight
 * writes the weights of EMPTY_ROWS_UNIFORM. */
inline floatv column_factor(floatv sum)
{
#if EMPTY_ROWS == EMPTY_ROWS_NAN
    return (floatv)(1.0f) / sum * (sum == (floatv)(0.0f) ? (floatv)(NAN) : (floatv)(1.0f));
#else
    return sum == (floatv)(0.0f) ? (floatv)(0.0f) : (floatv)(1.0f) / sum;
#endif
}

inline floatv column_weight(floatv exponential, floatv factor, floatv sum, int keys)
{
#if EMPTY_ROWS == EMPTY_ROWS_UNIFORM
    return sum == (floatv)(0.0f) ? (floatv)(1.0f / (float)keys) : exponential * factor;
#else
    return exponential * factor;
#endif
}

inline void softmax_block(const softmax_row *r, const key_strides *strides, float scale, int keys, int count,
                          const softmax_exp_numbers *numbers)
{
    floatv shift[2 * BLOCK / WIDTH], sum[2 * BLOCK / WIDTH], factor[2 * BLOCK / WIDTH];
    const int last = (count + WIDTH - 1) / WIDTH - 1;
    sum_columns(r, strides, scale, count, shift, sum, numbers);
    for (int v = 0; v <= last; v++)
        factor[v] = column_factor(sum[v]);
    for (int j = 0; j < r->used; j++) {
        __global Y_T *y = r->y + (long)j * strides->y;
        const floatv tail = column_scores(r, strides, scale, j, count - WIDTH); /* read before this key is stored, because y may be x */
        for (int v = 0; v < last; v++) {
            const floatv e = softmax_expv_of(column_scores(r, strides, scale, j, v * WIDTH) - shift[v], numbers);
            PASTE(vector_, STORE_Y)(y + v * WIDTH, column_weight(e, factor[v], sum[v], keys));
        }
        const floatv e = softmax_expv_of(tail - shift[last], numbers);
        PASTE(vector_, STORE_Y)(y + count - WIDTH, column_weight(e, factor[last], sum[last], keys));
    }
    for (int j = r->used; j < keys; j++)
        for (int v = 0; v <= last; v++)
            PASTE(vector_, STORE_Y)(r->y + (long)j * strides->y + min(v * WIDTH, count - WIDTH),
                                    column_weight((floatv)(0.0f), factor[v], sum[v], keys));
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void softmax_lines(ROW_PARAMETERS, int columns, int blocks_per_line, long blocks,
                                                                            int blocks_per_item)
{
    const long first = (long)get_group_id(0) * blocks_per_item, end = min(first + blocks_per_item, blocks);
    const softmax_exp_numbers numbers = softmax_exp_unknown_numbers();
    for (long block = first; block < end; block++) {
        const long line = block / blocks_per_line;
        const int column = (int)(block - line * blocks_per_line) * BLOCK;
        const int count = column + 2 * BLOCK > columns ? columns - column : BLOCK;
        softmax_row r = ROW_START;
        select_row(&r, &axes, lengths + lengths_offset, causal_offset, line * columns + column);
        softmax_block(&r, &strides, scale, keys, count, &numbers);
    }
}
