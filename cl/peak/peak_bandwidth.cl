/* SPDX-License-Identifier: MIT */
/* Reads, writes and copies memory, to measure its bandwidth. A work-group passes `passes` times over `part` vectors of its own, and the
 * host checks the result. Passes begin `skip` vectors apart. skip is 0, but the compiler does not know this and cannot merge passes. */
#include "vector.cl"

#ifndef WG
#error "WG: work-items of a group"
#endif

/* target[item] = sum of all that the item read, in four independent chains. vectors and part are multiples of 4 * WG. */
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void peak_read(__global const uintv *source, int vectors, int part, int passes, int skip, __global uintv *target)
{
    const int begin = (int)get_group_id(0) * part, end = min(vectors, begin + part);
    uintv a = (uintv)(0u), b = a, c = a, d = a;
    for (int pass = 0; pass < passes; pass++) {
        __global const uintv *from = source + pass * skip;
        for (int i = begin + (int)get_local_id(0); i < end; i += 4 * WG) {
            a += from[i];
            b += from[i + WG];
            c += from[i + 2 * WG];
            d += from[i + 3 * WG];
        }
    }
    target[get_global_id(0)] = (a + b) + (c + d);
}

/* target[i] = source[0] ^ (i + pass); the last pass overwrites the others. */
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void peak_write(__global const uintv *source, int vectors, int part, int passes, int skip, __global uintv *target)
{
    const int begin = (int)get_group_id(0) * part, end = min(vectors, begin + part);
    const uintv start = source[0];
    for (int pass = 0; pass < passes; pass++) {
        __global uintv *to = target + pass * skip;
        for (int i = begin + (int)get_local_id(0); i < end; i += 4 * WG) {
            const uint number = (uint)i + (uint)pass;
            to[i] = start ^ (uintv)(number);
            to[i + WG] = start ^ (uintv)(number + WG);
            to[i + 2 * WG] = start ^ (uintv)(number + 2 * WG);
            to[i + 3 * WG] = start ^ (uintv)(number + 3 * WG);
        }
    }
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void peak_copy(__global const uintv *source, int vectors, int part, int passes, int skip, __global uintv *target)
{
    const int begin = (int)get_group_id(0) * part, end = min(vectors, begin + part);
    for (int pass = 0; pass < passes; pass++) {
        __global const uintv *from = source + pass * skip;
        __global uintv *to = target + pass * skip;
        for (int i = begin + (int)get_local_id(0); i < end; i += 4 * WG) {
            const uintv a = from[i], b = from[i + WG], c = from[i + 2 * WG], d = from[i + 3 * WG];
            to[i] = a;
            to[i + WG] = b;
            to[i + 2 * WG] = c;
            to[i + 3 * WG] = d;
        }
    }
}
