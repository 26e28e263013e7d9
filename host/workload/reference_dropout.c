/* SPDX-License-Identifier: MIT */
/* Philox 4x32-10 on the host. */
#include "workload/reference_dropout.h"

#include <string.h>

void clfi_ref_philox(uint64_t block, uint64_t seed, uint32_t out[4])
{
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    memcpy(out, (uint32_t[4]){(uint32_t)block, (uint32_t)(block >> 32), 0, 0}, 4 * sizeof *out);
    for (int round = 0; round < 10; round++) {
        const uint64_t first = (uint64_t)0xd2511f53u * out[0], second = (uint64_t)0xcd9e8d57u * out[2];
        out[0] = (uint32_t)(second >> 32) ^ out[1] ^ key[0];
        out[1] = (uint32_t)second;
        out[2] = (uint32_t)(first >> 32) ^ out[3] ^ key[1];
        out[3] = (uint32_t)first;
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
}

bool clfi_ref_dropout_keeps(uint64_t n, float probability, uint64_t seed)
{
    uint32_t word[4];
    clfi_ref_philox(n / 4, seed, word);
    return (float)(word[n % 4] >> 8) * 0x1p-24f >= probability;
}
