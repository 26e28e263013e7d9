/* SPDX-License-Identifier: MIT */
/* 128-bit content hash through xxHash. */
#include "base/hash.h"

#include <stdio.h>
#include <xxhash.h>

void clfi_hash(const void *data, size_t size, char out[CLFI_HASH_TEXT_BYTES])
{
    const XXH128_hash_t hash = XXH3_128bits(data, size);
    snprintf(out, CLFI_HASH_TEXT_BYTES, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}
