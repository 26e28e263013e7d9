/* SPDX-License-Identifier: MIT */
/* Returns a buffer's address, for devices whose buffers never move. */
__kernel void buffer_address(__global uchar *buffer, __global ulong *addresses, int at)
{
    addresses[at] = (ulong)buffer;
}
