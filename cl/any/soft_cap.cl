/* SPDX-License-Identifier: MIT */
/* Computes y = cap tanh(y / cap) in place over a dense array, for the logits of Gemma 2. One work-item per element. */
#include "item.cl"

__kernel void soft_cap(ITEM_PARAMETERS long count, float cap, __global float *y, long y_offset)
{
    const long i = (long)get_global_id(0);
    if (i < count)
        y[y_offset + i] = cap * tanh(y[y_offset + i] / cap);
}
