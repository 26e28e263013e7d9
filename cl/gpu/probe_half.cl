/* SPDX-License-Identifier: MIT */
/* A probe of half precision: rounds numbers, computes multiply-adds and converts the results back. x holds three numbers for each of y. */
#include "half_four.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void probe_half(__global const float4 *x, __global float4 *y)
{
    const size_t at = get_global_id(0);
    y[at] = four_of_half(fma(half_of_four(x[3 * at]), half_of_four(x[3 * at + 1]), half_of_four(x[3 * at + 2])));
}
