/* SPDX-License-Identifier: MIT */
/* A probe of several sums over a work-group (group_sums.cl): every item returns 3 times the sums over its group. */
#include "group_sums.cl"

__kernel SUBGROUP_SIZE __attribute__((reqd_work_group_size(WG, 1, 1))) void probe_group_sums(__global const float2 *x,
                                                                                             __global float2 *y)
{
    __local float sums[SUM_SPACE];
    const size_t at = get_global_id(0);
    GROUP_SUM_LEAVE(sums, 0, 3.0f * x[at].x)
    GROUP_SUM_LEAVE(sums, 1, 3.0f * x[at].y)
    group_sums_meet(sums);
    y[at] = (float2)(group_sum_take(sums, 0), group_sum_take(sums, 1));
}
