/* SPDX-License-Identifier: MIT */
/* Keys and values of new tokens into rows of a cache: cache[row(n)][0][h*D + c] = k[h,n,c], [1] likewise from v; row(n) = rows[n]
 * (HAS_ROWS), or row0 + n. A work-item takes every
 * get_global_size(0)-th vector of WIDTH floats of a row; D is a multiple of WIDTH. */
#include "vector.cl"
#include "item.cl"

#ifndef HAS_ROWS
#error "HAS_ROWS: 0 or 1"
#endif

/* Where a [H,N,D] operand lies; strides in elements. */
typedef struct head_layout {
    long offset, head_stride, stride;
} head_layout;

__kernel void kv_cache_store(ITEM_PARAMETERS __global const float *k, head_layout k_at, __global const float *v, head_layout v_at,
                             __global float *cache, long row0, __global const int *rows, long rows_offset, int heads, int size)
{
    const int columns = heads * size;
    const long n = (long)get_global_id(1);
#if HAS_ROWS
    const long to = rows[rows_offset + n];
#else
    const long to = row0 + n;
#endif
    __global float *row = cache + to * 2 * columns;
    for (int c = (int)get_global_id(0) * WIDTH; c < columns; c += (int)get_global_size(0) * WIDTH) {
        const int head = c / size, within = c % size;
        vector_store_f32(row + c, vector_load_f32(k + k_at.offset + head * k_at.head_stride + n * k_at.stride + within));
        vector_store_f32(row + columns + c, vector_load_f32(v + v_at.offset + head * v_at.head_stride + n * v_at.stride + within));
    }
}
