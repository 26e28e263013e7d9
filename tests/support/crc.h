/* SPDX-License-Identifier: MIT */
/* Computes CRC-32 as zlib does, for golden data that is too large to store. */
#ifndef CLF_TEST_CRC_H
#define CLF_TEST_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Continues a sum (0 at the start) with these bytes. */
static inline uint32_t crc32_add(uint32_t sum, const void *data, size_t size)
{
    static const uint32_t table[16] = { /* indexed by four bits */
        0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
        0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
        0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
    const unsigned char *bytes = data;
    sum = ~sum;
    for (size_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        sum = table[sum & 15] ^ sum >> 4;
        sum = table[sum & 15] ^ sum >> 4;
    }
    return ~sum;
}

static inline uint32_t crc32_add_i32(uint32_t sum, int32_t value)
{
    const uint32_t v = (uint32_t)value;
    const unsigned char bytes[4] = {v & 0xff, v >> 8 & 0xff, v >> 16 & 0xff, v >> 24};
    return crc32_add(sum, bytes, sizeof bytes);
}

#endif
