/* SPDX-License-Identifier: MIT */
/* Rotary position embedding in place, for queries and keys of attention. Pair i of a row at position p is rotated by p w_i. A position is
 * split into p = FINE a + b. The host computes the cosines and sines of FINE a w_i and of b w_i in double. The kernel joins them by cos(x
 * + y) = cos x cos y - sin x sin y, so a large angle is never rounded to float. */
#if !defined PAIRS || !defined ITEM_PAIRS
#error "PAIRS: turned pairs of a head; ITEM_PAIRS: those of one work-item"
#endif
#ifndef IS_INTERLEAVED
#error "IS_INTERLEAVED: 1 pairs are (2i, 2i + 1), 0 they are (i, i + PAIRS)"
#endif
#ifndef FINE
#error "FINE: rows of the table of single positions; those of its multiples follow"
#endif

#include "item.cl"

/* Global size: (groups of ITEM_PAIRS pairs, rows, heads). turns [FINE + coarse_rows, PAIRS]: cosine and sine. */
__kernel void rotary(ITEM_PARAMETERS __global float *x, long x_offset, long head_stride, long row_stride, __global const int *positions,
                     long positions_offset, int positions_stride, __global const float2 *turns, long turns_offset, int coarse_rows)
{
    const int first = (int)get_global_id(0) * ITEM_PAIRS, row = (int)get_global_id(1), head = (int)get_global_id(2);
    const uint position = (uint)clamp(positions[positions_offset + (long)row * positions_stride], 0,
                                      FINE * coarse_rows - 1); /* unsigned: / and % FINE become a shift and a mask */
    __global const float2 *fine = turns + turns_offset / 2 + (long)(position % FINE) * PAIRS;
    __global const float2 *coarse = turns + turns_offset / 2 + (long)(FINE + position / FINE) * PAIRS;
    x += x_offset + head * head_stride + row * row_stride;
    for (int i = first; i < min(first + ITEM_PAIRS, PAIRS); i++) {
        const float2 a = coarse[i], b = fine[i];
        const float c = a.x * b.x - a.y * b.y, s = a.y * b.x + a.x * b.y;
#if IS_INTERLEAVED
        const int low = 2 * i, high = low + 1;
#else
        const int low = i, high = i + PAIRS;
#endif
        const float u = x[low], v = x[high];
        x[low] = u * c - v * s;
        x[high] = v * c + u * s;
    }
}
