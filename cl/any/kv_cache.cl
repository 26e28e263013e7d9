/* SPDX-License-Identifier: MIT */
/* Keys and values of new tokens into rows of a cache: cache[h][row(n)][0][c] = k[h,n,c], [1] likewise from v; row(n) = rows[n]
 * (HAS_ROWS), or n. A work-item takes every items-th vector of WIDTH elements of a token's heads; D is a multiple of
 * WIDTH. */
#include "vector.cl"
#include "item.cl"

#ifndef HAS_ROWS
#error "HAS_ROWS: 0 or 1"
#endif
#if !defined(LOAD_FROM) || !defined(STORE_TO)
#error "FROM_T, LOAD_FROM: type of k and v; TO_T, STORE_TO: of the cache"
#endif
#define LOAD_VECTOR PASTE(vector_, LOAD_FROM)
#define STORE_VECTOR PASTE(vector_, STORE_TO)

/* Offset and strides of a [H,N,D] operand, in elements. */
typedef struct head_layout {
    long offset, head_stride, stride;
} head_layout;

__kernel void kv_cache_store(ITEM_PARAMETERS __global const FROM_T *k, head_layout k_at, __global const FROM_T *v, head_layout v_at,
                             __global TO_T *cache, long capacity, __global const int *rows, long rows_offset,
                             int heads, int size, int items)
{
    const int columns = heads * size;
    const long n = (long)get_global_id(1);
#if HAS_ROWS
    const long to = rows[rows_offset + n];
#else
    const long to = n;
#endif
    for (int c = (int)get_global_id(0) * WIDTH; c < columns; c += items * WIDTH) {
        const int head = c / size, within = c % size;
        __global TO_T *key = cache + (head * capacity + to) * 2 * size + within;
        STORE_VECTOR(key, LOAD_VECTOR(k + k_at.offset + head * k_at.head_stride + n * k_at.stride + within));
        STORE_VECTOR(key + size, LOAD_VECTOR(v + v_at.offset + head * v_at.head_stride + n * v_at.stride + within));
    }
}
