/* SPDX-License-Identifier: MIT */
/* y = cap tanh(y / cap) over a dense array, an element for each work-item (Gemma 2's logits). */
#include "item.cl"

__kernel void soft_cap(ITEM_PARAMETERS long count, float cap, __global float *y, long y_offset)
{
    const long i = (long)get_global_id(0);
    if (i < count)
        y[y_offset + i] = cap * tanh(y[y_offset + i] / cap);
}
