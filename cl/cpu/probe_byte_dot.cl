/* SPDX-License-Identifier: MIT */
/* A probe of dot products of bytes (byte_dot.cl). The input of an item is WIDTH start values of sums, WIDTH words of unsigned bytes, and
 * one word of signed bytes for all lanes. */
#include "vector.cl"
#include "byte_dot.cl"

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void probe_byte_dot(__global const int *x, __global int *y)
{
    const size_t item = get_global_id(0);
    x += item * (2 * WIDTH + 1);
    VECTOR_STORE(dot_bytes(VECTOR_LOAD(x), AS_UINTV(VECTOR_LOAD(x + WIDTH)), x + 2 * WIDTH), y + item * WIDTH);
}
