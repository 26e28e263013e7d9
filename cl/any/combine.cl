/* SPDX-License-Identifier: MIT */
/* y *= x or y += x over dense arrays: a work-item takes CHUNK vectors of WIDTH floats. */
#include "vector.cl"
#include "item.cl"

#ifndef CHUNK
#error "CHUNK: vectors of one work-item"
#endif
#ifndef IS_SUM
#error "IS_SUM: 1 y += x, 0 y *= x"
#endif

#if IS_SUM
#define COMBINED(a, b) ((a) + (b))
#else
#define COMBINED(a, b) ((a) * (b))
#endif

__kernel void combine(ITEM_PARAMETERS long count, __global const float *x, long x_offset, __global float *y, long y_offset)
{
    const long begin = (long)get_global_id(0) * CHUNK * WIDTH;
    const long end = min(count, begin + CHUNK * WIDTH);
    x += x_offset;
    y += y_offset;
    long i = begin;
    for (; i + WIDTH <= end; i += WIDTH)
        vector_store_f32(y + i, COMBINED(vector_load_f32(y + i), vector_load_f32(x + i)));
    for (; i < end; i++)
        y[i] = COMBINED(y[i], x[i]);
}
