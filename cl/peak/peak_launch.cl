/* SPDX-License-Identifier: MIT */
/* The smallest kernel whose launches can be counted. */
__kernel void peak_launch(__global uint *counter, uint step)
{
    counter[0] += step;
}
