/* SPDX-License-Identifier: MIT */
/* Reads local memory, to measure its bandwidth: a group fills TILE vectors once, then each item reads all of them `cycles` times.
 * Neighbouring items read neighbouring vectors. */
#include "vector.cl"

#ifndef WG
#error "WG: work-items of a group"
#endif
#ifndef TILE
#error "TILE: vectors in local memory, a power of two, at least 8 and at least WG"
#endif
#define BLOCK 8 /* vectors read one after another; the order differs by item, so that neighbours never read the same one */
#define AT(k) block[(lane ^ k)]

/* out[item] = sum of what the item read: cycles times the sum of the tile. step is odd, so TILE / BLOCK of them visit every block once. */
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void peak_local(__global const uintv *source, int cycles, int step, __global uintv *out)
{
    __local uintv tile[TILE];
    for (int i = (int)get_local_id(0); i < TILE; i += WG)
        tile[i] = source[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int lane = (int)get_local_id(0) & (BLOCK - 1);
    uintv a = (uintv)(0u), b = a, c = a, d = a;
    int at = (int)get_local_id(0) / BLOCK;
    for (int i = 0; i < cycles * (TILE / BLOCK); i++, at += step) {
        __local const uintv *block = tile + BLOCK * (at & (TILE / BLOCK - 1));
        a += AT(0);
        b += AT(1);
        c += AT(2);
        d += AT(3);
        a += AT(4);
        b += AT(5);
        c += AT(6);
        d += AT(7);
    }
    out[get_global_id(0)] = (a + b) + (c + d);
}
