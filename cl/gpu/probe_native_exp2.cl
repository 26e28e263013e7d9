/* SPDX-License-Identifier: MIT */
/* A probe of native_exp2, for vectors and for single numbers. */
__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void probe_native_exp2(__global const float4 *x, __global float4 *y)
{
    const float4 at = x[get_global_id(0)];
    float4 power = native_exp2(at);
    power.x = native_exp2(at.x);
    y[get_global_id(0)] = power;
}
