/* SPDX-License-Identifier: MIT */
/* 128-bit content hash (XXH3) as 32 hexadecimal digits: keys and checksums, not security. */
#ifndef CLFI_BASE_HASH_H
#define CLFI_BASE_HASH_H

#include <stddef.h>

#include "base/status.h"

enum { CLFI_HASH_TEXT_BYTES = 33 };

void clfi_hash(const void *data, size_t size, char out[CLFI_HASH_TEXT_BYTES]);

/* The same hash of bytes that come piece by piece. */
typedef struct clf_hasher clf_hasher;

clf_status clfi_hasher_create(clf_hasher **out);
void clfi_hasher_destroy(clf_hasher *hasher); /* NULL is a no-op */
void clfi_hasher_add(clf_hasher *hasher, const void *data, size_t size);
clf_status clfi_hasher_add_file(clf_hasher *hasher, const char *path); /* a regular file's bytes; NOT_FOUND and IO name it */
void clfi_hasher_text(const clf_hasher *hasher, char out[CLFI_HASH_TEXT_BYTES]); /* of all bytes so far; more may be added */

#endif
