/* SPDX-License-Identifier: MIT */
/* A probe of sums over a work-group (row_sum.cl): every item returns 3 times the sum over its group, from two sums in the same local
 * memory. */
#include "row_sum.cl"

ROW_SUM(probed_sum, float2, CLK_LOCAL_MEM_FENCE)

__kernel SUBGROUP_SIZE __attribute__((reqd_work_group_size(WG, 1, 1))) void probe_row_sum(__global const float2 *x, __global float2 *y)
{
    __local float2 scratch[WG];
    const size_t at = get_global_id(0);
    const float2 once = probed_sum(scratch, x[at]);
    y[at] = once + probed_sum(scratch, 2.0f * x[at]);
}
