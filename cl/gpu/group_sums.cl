/* SPDX-License-Identifier: MIT */
/* Computes SUMS sums over a work-group of WG items at once. It uses sub-groups if a probe found them right (SUBGROUPS). Otherwise it works
 * in local memory in two steps, in which eight items share a sum. */
#ifndef SUMS
#error "SUMS: sums of a group, a number"
#endif
#if !defined(WG) || !defined(SUBGROUPS)
#error "WG: work-group size, a multiple of eight; SUBGROUPS: see subgroups.cl"
#endif
#include "subgroups.cl"

#define SUM_PITCH (WG + 8) /* so that items that share a sum, and their neighbours, read different banks */
#if SUBGROUPS
#define SUM_SPACE (SUMS * WG) /* in the worst case a sub-group has one item */
#else
#define SUM_SPACE (SUMS * SUM_PITCH + 8 * SUMS)
#endif

/* GROUP_SUM_LEAVE stores an item's addend of sum i. All items call group_sums_meet; then group_sum_take returns sum i to any item. space:
 * SUM_SPACE floats. */
#if SUBGROUPS
#define GROUP_SUM_LEAVE(space, i, value)                                     \
    {                                                                        \
        const float part = sub_group_reduce_add(value);                      \
        if (get_sub_group_local_id() == 0)                                   \
            (space)[(i) * get_num_sub_groups() + get_sub_group_id()] = part; \
    }

inline void group_sums_meet(__local float *space)
{
    barrier(CLK_LOCAL_MEM_FENCE);
}

inline float group_sum_take(__local const float *space, uint i)
{
    const uint parts = get_num_sub_groups();
    float sum = 0.0f;
    for (uint p = 0; p < parts; p++)
        sum += space[i * parts + p];
    return sum;
}
#else
#define GROUP_SUM_LEAVE(space, i, value) (space)[(i) * SUM_PITCH + get_local_id(0)] = value;

inline void group_sums_meet(__local float *space)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = get_local_id(0); at < 8 * SUMS; at += WG) {
        __local const float *const from = space + at / 8 * SUM_PITCH + at % 8;
        float sum = 0.0f;
        for (uint p = 0; p < WG; p += 8)
            sum += from[p];
        space[SUMS * SUM_PITCH + at] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

inline float group_sum_take(__local const float *space, uint i)
{
    __local const float *const from = space + SUMS * SUM_PITCH + 8 * i;
    return ((from[0] + from[1]) + (from[2] + from[3])) + ((from[4] + from[5]) + (from[6] + from[7]));
}
#endif
