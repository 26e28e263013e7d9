/* SPDX-License-Identifier: MIT */
/* Softmax with one work-item per row, for any strides: neighbouring work-items take neighbouring rows, so that a key axis that is not the
 * last is still read in long runs. Three passes; the exponentials are computed twice instead of being stored in the type of y. */
#include "softmax_exp.cl"
#include "softmax_row.cl"

__kernel void softmax_generic(ROW_PARAMETERS)
{
    const long index = (long)get_global_id(0);
    softmax_row r = ROW_START;
    select_row(&r, &axes, lengths + lengths_offset, causal_offset, min(index, row_count - 1));
    if (index >= row_count)
        return;
    float maximum = -INFINITY, sum = 0.0f;
    for (int j = 0; j < r.used; j++) {
        const float s = row_score(&r, &strides, scale, j);
        maximum = s > maximum ? s : maximum; /* NaN never becomes the maximum; the sum is NaN then */
    }
    const float shift = row_shift(maximum);
    for (int j = 0; j < r.used; j++)
        sum += softmax_exp(row_score(&r, &strides, scale, j) - shift);
    const float inverse = 1.0f / sum;
    for (int j = 0; j < keys; j++) {
        float weight = 0.0f;
        if (j < r.used)
            weight = softmax_exp(row_score(&r, &strides, scale, j) - shift);
        STORE_Y(r.y, (long)j * strides.y, sum == 0.0f ? empty_weight(keys) : weight * inverse);
    }
}
