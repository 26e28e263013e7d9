/* SPDX-License-Identifier: MIT */
/* 128-bit content hash (XXH3) as 32 hexadecimal digits: keys and checksums, not security. */
#ifndef CLFI_BASE_HASH_H
#define CLFI_BASE_HASH_H

#include <stddef.h>

enum { CLFI_HASH_TEXT_BYTES = 33 };

void clfi_hash(const void *data, size_t size, char out[CLFI_HASH_TEXT_BYTES]);

#endif
