/* SPDX-License-Identifier: MIT */
/* Log-softmax on GPUs: y[r,:] = x[r,:] - max_r - log(sum_j exp(x[r,j] - max_r)) + shift[r] over dense rows. LANES work-items share a row, a
 * work-group holds WG / LANES rows. */
#include "row_reduce.cl"

#ifndef HAS_SHIFT
#error "HAS_SHIFT: a number is added to each row"
#endif

/* Joins two pairs (m, s): m is a maximum, s the sum of exp(x - m). */
inline float2 join(float2 a, float2 b)
{
    const float m = b.x > a.x ? b.x : a.x, shift = m == -INFINITY ? 0.0f : m;
    return (float2)(m, a.y * exp(a.x - shift) + b.y * exp(b.x - shift));
}

ROW_REDUCTION(row_join, float2, join, CLK_LOCAL_MEM_FENCE)

__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void log_softmax_group(__global const float *x, long x_offset,
                                                                                __global const float *shift, long shift_offset,
                                                                                __global float *y, long y_offset, long rows, int columns)
{
    __local float2 scratch[WG];
    const int lane = (int)(get_local_id(0) & (LANES - 1));
    const long row = (long)get_group_id(0) * (WG / LANES) + (long)(get_local_id(0) / LANES);
    const long from = min(row, rows - 1) * columns; /* lanes past the last row only take part in barriers */
    x += x_offset + from;
    y += y_offset + from;
    float maximum = -INFINITY, sum = 0.0f;
    for (int c = lane; c < columns; c += LANES)
        maximum = x[c] > maximum ? x[c] : maximum;
    const float near = maximum == -INFINITY ? 0.0f : maximum;
    for (int c = lane; c < columns; c += LANES)
        sum += exp(x[c] - near);
    const float2 total = row_join(scratch, (float2)(maximum, sum));
#if HAS_SHIFT
    const float add = shift[shift_offset + min(row, rows - 1)];
#else
    const float add = 0.0f;
#endif
    const float log_sum = log(total.y);
    if (row < rows)
        for (int c = lane; c < columns; c += LANES)
            y[c] = (x[c] - total.x - log_sum) + add;
}
