/* SPDX-License-Identifier: MIT */
/* A head's row in a cache of type q8_0: HEAD signed bytes, then a scale (half) for each block of CACHE_BLOCK bytes. Element c is byte c
 * times its block's scale. The product is exact, because 8 bits times 11 bits fit a float. */
#define CACHE_BLOCK 32
#define CACHE_ROW_Q8(head) ((head) / CACHE_BLOCK * (CACHE_BLOCK + 2)) /* bytes */

/* The scale of element c of a row of `head` elements. */
inline float cache_scale(__global const uchar *row, int head, int c)
{
    return vload_half(c / CACHE_BLOCK, (__global const half *)(row + head));
}
