/* SPDX-License-Identifier: MIT */
/* Copies a bias as f32 and pads it with zeros. */
#include "types.cl"

/* to[first + i] = from[i] for i < count, 0 for count <= i < padded. */
__kernel void gemm_pack_bias(int count, int padded, __global const FROM_T *restrict from, long from_offset, long stride,
                             __global float *restrict to, long to_offset)
{
    const int i = (int)get_global_id(0);
    if (i < padded)
        to[to_offset + i] = i < count ? LOAD_FROM(from, from_offset + i * stride) : 0.0f;
}
