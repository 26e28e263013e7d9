/* SPDX-License-Identifier: MIT */
/* Sums of a row's weights: y[r] = sum_j exp(scale[r] * (x[r,j] - max_k x[r,k])), the denominator of a softmax. y[r] is NaN if an element of
 * the row is not finite. A work-group reads one row. Without HAS_SCALE rows are checked only, and y[r] is 0 or NaN. */
#ifndef WG
#error "WG: work-group size, a power of two"
#endif
#ifndef HAS_SCALE
#error "HAS_SCALE: sums are wanted; else rows are checked alone"
#endif

/* Elements that an item reads before it uses them: their reads are under way together. */
#define READS 4

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void exp_sum(int columns, __global const float *x, long x_offset, __global const float *scale, long scale_offset, __global float *y,
             long y_offset)
{
    __local float values[WG];
    __local int flags[WG];
    const long row = get_group_id(0);
    const uint item = get_local_id(0);
    float largest = -INFINITY;
    int is_bad = 0;
    x += x_offset + row * columns;
    for (int c = (int)item; c < columns; c += READS * WG) {
        float read[READS];
        for (int j = 0; j < READS; j++)
            read[j] = x[min(c + j * WG, columns - 1)];
        for (int j = 0; j < READS; j++) {
            is_bad |= (as_int(read[j]) & 0x7f800000) == 0x7f800000;
            largest = read[j] > largest ? read[j] : largest;
        }
    }
    values[item] = largest;
    flags[item] = is_bad;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = WG / 2; step > 0; step >>= 1) {
        if (item < step) {
            values[item] = values[item + step] > values[item] ? values[item + step] : values[item];
            flags[item] |= flags[item + step];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    largest = values[0];
    is_bad = flags[0];
    float sum = 0.0f;
#if HAS_SCALE
    const float factor = scale[scale_offset + row];
    float lost = 0.0f; /* rounding error of `sum` (Kahan 1965): many small weights beside a large one count */
    for (int c = (int)item; c < columns; c += WG) {
        const float weight = exp(factor * (x[c] - largest)) - lost, next = sum + weight;
        lost = (next - sum) - weight;
        sum = next;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    values[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = WG / 2; step > 0; step >>= 1) {
        if (item < step)
            values[item] += values[item + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum = values[0];
#endif
    if (item == 0)
        y[y_offset + row] = is_bad ? NAN : sum;
}
