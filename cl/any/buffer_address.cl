/* SPDX-License-Identifier: MIT */
/* Where a buffer lies on a device whose buffers stay where they are. */
__kernel void buffer_address(__global uchar *buffer, __global ulong *addresses, int at)
{
    addresses[at] = (ulong)buffer;
}
