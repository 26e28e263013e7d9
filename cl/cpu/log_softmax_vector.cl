/* SPDX-License-Identifier: MIT */
/* Log-softmax on CPUs: y[r,:] = x[r,:] - max_r - log(sum_j exp(x[r,j] - max_r)) + shift[r] over dense rows, vectors along the row; a
 * work-item takes rows_per_item rows. */
#include "lane_sum.cl"
#include "vector_math.cl"

#ifndef HAS_SHIFT
#error "HAS_SHIFT: a number is added to each row"
#endif

/* Elements c .. c + WIDTH - 1 of a row, -inf past its end. */
inline floatv load_padded(__global const float *x, int c, int columns)
{
    if (c + WIDTH <= columns)
        return vector_load_f32(x + c);
    float lanes[WIDTH] __attribute__((aligned(64)));
    for (int i = 0; i < WIDTH; i++)
        lanes[i] = c + i < columns ? x[c + i] : -INFINITY;
    return *(__private floatv *)lanes;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void log_softmax_vector(__global const float *x, long x_offset, __global const float *shift, long shift_offset, __global float *y,
                        long y_offset, long rows, int columns, int rows_per_item)
{
    const long begin = (long)get_global_id(0) * rows_per_item, end = min(begin + rows_per_item, rows);
    for (long row = begin; row < end; row++) {
        __global const float *from = x + x_offset + row * columns;
        __global float *to = y + y_offset + row * columns;
        float lanes[WIDTH] __attribute__((aligned(64)));
        floatv largest = (floatv)(-INFINITY), sum = (floatv)(0.0f);
        for (int c = 0; c < columns; c += WIDTH) {
            const floatv v = load_padded(from, c, columns);
            largest = v > largest ? v : largest;
        }
        *(__private floatv *)lanes = largest;
        float maximum = lanes[0];
        for (int i = 1; i < WIDTH; i++)
            maximum = lanes[i] > maximum ? lanes[i] : maximum;
        const float near = maximum == -INFINITY ? 0.0f : maximum;
        for (int c = 0; c < columns; c += WIDTH)
            sum += exp_nonpositive(load_padded(from, c, columns) - near, (floatv)(0.0f));
        const float log_sum = log(lane_sum(sum));
#if HAS_SHIFT
        const float add = shift[shift_offset + row];
#else
        const float add = 0.0f;
#endif
        int c = 0;
        for (; c + WIDTH <= columns; c += WIDTH)
            vector_store_f32(to + c, (vector_load_f32(from + c) - maximum - log_sum) + add);
        for (; c < columns; c++)
            to[c] = (from[c] - maximum - log_sum) + add;
    }
}
