/* SPDX-License-Identifier: MIT */
/* Whether several sums over a work-group are right: 3 times those of each group's items, for every item. */
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
