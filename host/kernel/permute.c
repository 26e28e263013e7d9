/* SPDX-License-Identifier: MIT */
/* Launches cl/cpu/permute_vector.cl and cl/gpu/permute_group.cl. */
#include "kernel/permute.h"

#include <limits.h>

enum {
    MIN_SIDE = 8, /* shorter axes waste most of a tile */
    MAX_OUTER = 8,
    GROUP_TILE = 32,
    GROUP_ROWS = 8,
    VECTOR_RUN = 256 /* elements of the input's contiguous axis that a work-item of a CPU moves */
};

/* Indices of the axes that are contiguous in the input (p) and in the output (q); -1: none. */
static void find_axes(const clf_einsum_loops *loops, int *p, int *q)
{
    *p = *q = -1;
    for (int d = 0; d < loops->kept_rank; d++) {
        if (loops->kept[d].stride[0] == 1)
            *p = d;
        if (loops->kept[d].stride[1] == 1)
            *q = d;
    }
}

bool clfi_permute_suits(const clf_context *context, const clf_einsum_loops *loops)
{
    const clf_device_caps *caps = &context->device.caps;
    int p, q;
    if (!caps->is_cpu && caps->max_work_group_size < GROUP_TILE * GROUP_ROWS)
        return false;
    if (loops->inputs != 1 || loops->summed_rank > 0 || loops->kept_rank < 2 || loops->kept_rank > MAX_OUTER + 2)
        return false;
    find_axes(loops, &p, &q);
    if (p < 0 || q < 0 || p == q || loops->kept[p].size < MIN_SIDE || loops->kept[q].size < MIN_SIDE)
        return false;
    int64_t outer = 1;
    for (int d = 0; d < loops->kept_rank; d++) {
        if (loops->kept[d].size > INT_MAX / 2)
            return false;
        if (d != p && d != q && __builtin_mul_overflow(outer, loops->kept[d].size, &outer))
            return false;
    }
    return outer <= INT_MAX;
}

clf_status clfi_permute(clf_context *context, const clf_einsum_loops *loops, const clf_einsum_memory *in, const clf_einsum_memory *out)
{
    const bool is_cpu = context->device.caps.is_cpu;
    const int width = context->device.caps.vector_width;
    cl_long outer[3 * MAX_OUTER] = {0};
    int p, q, outer_rank = 0, at = 0;
    size_t outer_count = 1;
    find_axes(loops, &p, &q);
    outer_rank = loops->kept_rank - 2;
    for (int d = 0; d < loops->kept_rank; d++)
        if (d != p && d != q) {
            outer[at] = loops->kept[d].size;
            outer[outer_rank + at] = loops->kept[d].stride[0];
            outer[2 * outer_rank + at] = loops->kept[d].stride[1];
            outer_count *= (size_t)loops->kept[d].size;
            at++;
        }
    const int64_t p_size = loops->kept[p].size, q_size = loops->kept[q].size;

    clf_kernel_spec spec =
        is_cpu ? clfi_kernel_spec("permute_vector.cl", "permute_vector") : clfi_kernel_spec("permute_group.cl", "permute_group");
    clfi_spec_int(&spec, "OUTER_RANK", outer_rank);
    if (is_cpu)
        clfi_spec_int(&spec, "WIDTH", width);
    clfi_spec_dtype(&spec, "IN", in->dtype);
    clfi_spec_dtype(&spec, "OUT", out->dtype);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, in->buffer);
    clfi_arg_long(&launch, in->offset);
    clfi_arg_buffer(&launch, out->buffer);
    clfi_arg_long(&launch, out->offset);
    clfi_arg_bytes(&launch, outer, (outer_rank ? 3 * (size_t)outer_rank : 1) * sizeof outer[0]);
    clfi_arg_int(&launch, p_size);
    clfi_arg_int(&launch, q_size);
    clfi_arg_long(&launch, loops->kept[q].stride[0]);
    clfi_arg_long(&launch, loops->kept[p].stride[1]);
    clfi_launch_work(&launch, 0, 2.0 * sizeof(float) * (double)p_size * (double)q_size * (double)outer_count);
    if (!is_cpu) {
        const size_t groups[3] = {(size_t)(p_size + GROUP_TILE - 1) / GROUP_TILE, (size_t)(q_size + GROUP_TILE - 1) / GROUP_TILE,
                                  outer_count};
        return clfi_launch_3d(&launch, groups, (const size_t[3]){GROUP_TILE, GROUP_ROWS, 1});
    }
    clfi_arg_int(&launch, VECTOR_RUN);
    const size_t groups[3] = {(size_t)(p_size + VECTOR_RUN - 1) / VECTOR_RUN, (size_t)(q_size + width - 1) / (size_t)width, outer_count};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){1, 1, 1});
}
