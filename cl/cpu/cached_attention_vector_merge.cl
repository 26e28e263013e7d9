/* SPDX-License-Identifier: MIT */
/* Joins the parts of the keys of cached attention on CPUs (cached_attention_vector.cl). It has a file of its own because drivers compile
 * all kernels of a program, and this one needs few of the macros. */
#include "attention_part.cl"
#include "vector.cl"
#include "softmax_exp.cl"
#include "item.cl"

#define VECTORS (HEAD / WIDTH)

/* out = sum_p e^(maximum_p - maximum) mixed_p / sum_p e^(maximum_p - maximum) sum_p; one work-item for each query and head. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void cached_attention_vector_merge(ITEM_PARAMETERS __global const float *parts, long parts_offset, int part_count, int queries,
                                   int heads, __global float *out, long out_offset, long out_stride, long out_head_stride)
{
    const int n = (int)get_global_id(0), h = (int)get_global_id(1);
    const long part_stride = (long)queries * heads * PART_SIZE;
    parts += parts_offset + ((long)n * heads + h) * PART_SIZE;
    const float shift = shift_of_parts(parts, part_stride, part_count);
    float sum = 0.0f;
    floatv mixed[VECTORS];
    for (int i = 0; i < VECTORS; i++)
        mixed[i] = (floatv)(0.0f);
    for (int p = 0; p < part_count; p++) {
        __global const float *part = parts + p * part_stride;
        const float weight = softmax_exp(part[PART_MAXIMUM] - shift);
        sum = fma(part[PART_SUM], weight, sum);
        for (int i = 0; i < VECTORS; i++)
            mixed[i] = fma(vector_load_f32(part + i * WIDTH), (floatv)(weight), mixed[i]);
    }
    const float factor = sum == 0.0f ? 0.0f : 1.0f / sum; /* no usable key: zeros */
    out += out_offset + n * out_stride + h * out_head_stride;
    for (int i = 0; i < VECTORS; i++)
        vector_store_f32(out + i * WIDTH, mixed[i] * factor);
}
