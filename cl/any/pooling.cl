/* SPDX-License-Identifier: MIT */
/* Pooling: the vectors of a sequence's tokens become one. A work-item takes WIDTH columns of one sequence, so that neighbouring items read
 * neighbouring columns and no item waits for another; GPUs run it with WIDTH 1 and work-groups of columns.
 *
 * Sums go through blocks of BLOCK tokens: block sums, then their sum, so that the error grows with len / BLOCK and not with len. */
#include "vector.cl"
#include "item.cl"

#if !defined(WG) || !defined(BLOCK)
#error "WG: work-group size; BLOCK: tokens summed together"
#endif

/* clf_pooling of include/clformer/ops.h, in the same order. */
enum { MODE_MEAN, MODE_CLS, MODE_MAX, MODE_MEAN_SQRT_LEN, MODE_LAST, MODE_WEIGHTED_MEAN };

/* The larger of two numbers, or NaN if one of them is. */
static inline floatv larger(floatv a, floatv b)
{
    return b > a || isnan(b) ? b : a;
}

static inline floatv largest_of(__global const X_T *x, long stride, int length)
{
    floatv result = PASTE(vector_, LOAD_X)(x);
    for (int t = 1; t < length; t++)
        result = larger(result, PASTE(vector_, LOAD_X)(x + t * stride));
    return result;
}

/* Sum of the tokens' vectors, token t times weight + t * rise. */
static inline floatv sum_of(__global const X_T *x, long stride, int length, int weight, int rise)
{
    floatv sum = 0.0f;
    for (int start = 0; start < length; start += BLOCK) {
        const int end = min(start + BLOCK, length);
        floatv block = 0.0f;
        for (int t = start; t < end; t++)
            block += (float)(weight + t * rise) * PASTE(vector_, LOAD_X)(x + t * stride);
        sum += block;
    }
    return sum;
}

/* x: the first pooled token at the first column of this item; `before`: the sequence's tokens before it. */
static inline floatv pool_columns(__global const X_T *x, long stride, int length, int before, int mode)
{
    const float n = (float)length;
    if (mode == MODE_CLS || mode == MODE_LAST)
        return PASTE(vector_, LOAD_X)(x + (mode == MODE_LAST ? (length - 1) * stride : 0));
    if (mode == MODE_MAX)
        return largest_of(x, stride, length);
    if (mode == MODE_WEIGHTED_MEAN)
        return sum_of(x, stride, length, before + 1, 1) / (n * ((float)before + 0.5f * (n + 1.0f)));
    return sum_of(x, stride, length, 1, 0) / (mode == MODE_MEAN_SQRT_LEN ? sqrt(n) : n);
}

/* WIDTH divides the number of columns; the first `skipped` tokens of each sequence do not count. */
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void pooling_columns(ITEM_PARAMETERS __global const X_T *x, long x_offset, long x_stride, long tokens, __global const int *offsets,
                     long offsets_offset, __global Y_T *y, long y_offset, long y_stride, int columns, int skipped, int mode)
{
    const long sequence = (long)get_group_id(1);
    const int c = (int)get_global_id(0) * WIDTH;
    const long first = clamp((long)offsets[offsets_offset + sequence], 0L, tokens);
    const long end = clamp((long)offsets[offsets_offset + sequence + 1], first, tokens);
    if (c < columns) {
        floatv result = 0.0f;
        if (end > first + skipped)
            result = pool_columns(x + x_offset + (first + skipped) * x_stride + c, x_stride, (int)(end - first - skipped), skipped, mode);
        PASTE(vector_, STORE_Y)(y + y_offset + sequence * y_stride + c, result);
    }
}
