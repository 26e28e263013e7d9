/* SPDX-License-Identifier: MIT */
/* Reads and writes files of the cache. A file is an 8-byte mark of the format, 32 hexadecimal digits of the hash of the rest, 32 of the key
 * that the content belongs to, and the content. Readers in other processes see a whole file or none. */
#ifndef CLFI_RUNTIME_CACHE_FILE_H
#define CLFI_RUNTIME_CACHE_FILE_H

#include "base/hash.h"
#include "base/private_directory.h"

/* The mark of the format. It is part of every key, so that files of another format are not found. */
extern const char clfi_cache_mark[];

enum { CLFI_CACHE_CONTENT_AT = 8 + 2 * (CLFI_HASH_TEXT_BYTES - 1) };

/* *out: the whole file, its content from CLFI_CACHE_CONTENT_AT on; the caller frees it in any case. NOT_FOUND: no such file. FORMAT: it is
 * short, altered, without content, longer than `most` bytes, or belongs to another key. IO. OUT_OF_MEMORY. */
clf_status clfi_cache_file_read(const clf_private_directory *directory, const char *name, const char *key, size_t most, clf_str *out);

clf_status clfi_cache_file_write(const clf_private_directory *directory, const char *name, const char *key, const void *content,
                                 size_t size);

#endif
