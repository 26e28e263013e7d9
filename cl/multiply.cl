/* SPDX-License-Identifier: MIT */
/* y *= x over dense arrays: a work-item takes CHUNK vectors of WIDTH floats. */
#include "vector.cl"

#ifndef CHUNK
#error "CHUNK: vectors of one work-item"
#endif

__kernel void multiply(long count, __global const float *x, long x_offset, __global float *y, long y_offset)
{
    const long begin = (long)get_global_id(0) * CHUNK * WIDTH;
    const long end = min(count, begin + CHUNK * WIDTH);
    x += x_offset;
    y += y_offset;
    long i = begin;
    for (; i + WIDTH <= end; i += WIDTH)
        vector_store_f32(y + i, vector_load_f32(y + i) * vector_load_f32(x + i));
    for (; i < end; i++)
        y[i] *= x[i];
}
