/* SPDX-License-Identifier: MIT */
/* Joins the parts of the keys of cached attention on GPUs (cached_attention_group.cl). It has a file of its own because drivers compile all
 * kernels of a program, and this one needs few of the macros. */
#include "attention_part.cl"
#include "types.cl"
#include "softmax_exp.cl"
#include "group.cl"

#ifndef WG
#error "WG: work-group size"
#endif

/* out = sum_p e^(maximum_p - maximum) mixed_p / sum_p e^(maximum_p - maximum) sum_p; a work-group for each query and head. */
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void cached_attention_merge(GROUP_PARAMETERS __global const float *parts, long parts_offset, int part_count, __global float *out,
                            long out_offset, long out_stride, long out_head_stride, int query_count, int heads)
{
    const int n = (int)get_group_id(0), h = (int)get_group_id(1);
    const long part_stride = (long)query_count * heads * PART_SIZE;
    parts += parts_offset + ((long)n * heads + h) * PART_SIZE;
    const float shift = shift_of_parts(parts, part_stride, part_count);
    float sum = 0.0f;
    for (int p = 0; p < part_count; p++)
        sum = fma(parts[p * part_stride + PART_SUM], softmax_exp(parts[p * part_stride + PART_MAXIMUM] - shift), sum);
    const float factor = sum == 0.0f ? 0.0f : 1.0f / sum; /* no usable key: zeros */
    for (int c = (int)get_local_id(0); c < HEAD; c += WG) {
        float mixed = 0.0f;
        for (int p = 0; p < part_count; p++)
            mixed = fma(parts[p * part_stride + c], softmax_exp(parts[p * part_stride + PART_MAXIMUM] - shift), mixed);
        out[out_offset + n * out_stride + h * out_head_stride + c] = mixed * factor;
    }
}
