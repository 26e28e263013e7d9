/* SPDX-License-Identifier: MIT */
/* Measures how fast a device multiplies and copies. x, y: float4 for each item. */

/* Four chains of multiply-adds, whose operands the compiler does not know. */
__kernel void rate_multiply_add(__global float4 *x, int rounds)
{
    const size_t i = get_global_id(0);
    const float4 factor = x[i];
    float4 a = factor, b = factor + 1.0f, c = factor + 2.0f, d = factor + 3.0f;
    for (int r = 0; r < rounds; r++) {
        a = fma(a, factor, b);
        b = fma(b, factor, c);
        c = fma(c, factor, d);
        d = fma(d, factor, a);
    }
    x[i] = (a + b) + (c + d);
}

__kernel void rate_copy(__global const float4 *x, __global float4 *y)
{
    const size_t i = get_global_id(0);
    y[i] = x[i];
}
