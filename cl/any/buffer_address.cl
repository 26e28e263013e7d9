/* SPDX-License-Identifier: MIT */
/* Writes a buffer's address to addresses[at], for devices whose buffers never move. */
__kernel void buffer_address(__global uchar *buffer, __global ulong *addresses, int at)
{
    addresses[at] = (ulong)buffer;
}
