/* SPDX-License-Identifier: MIT */
/* Keeps compiled programs on disk.
 *
 * Directory: a private one (base/private_directory.h), below the user's cache directory.
 * Key: hash of format version, source text, kernel, options, platform, device and driver, so a change of any of them misses.
 * File: "<kernel>-<key>.bin", the driver's binary (runtime/cache_file.h). A file is ignored and written again if it is short, altered, of
 * another program, refused by the driver, or lacks the kernel. */
#ifndef CLFI_RUNTIME_PROGRAM_CACHE_H
#define CLFI_RUNTIME_PROGRAM_CACHE_H

#include "base/hash.h"
#include "base/str.h"
#include "runtime/context.h"
#include "runtime/kernel_spec.h"

/* Opens the cache of context->shared. If the directory cannot be used, the reason is logged, and the cache stays NULL. */
void clfi_program_cache_open(clf_context *context, const char *directory);

/* Computes the program's key. source: from clfi_program_source. OUT_OF_MEMORY. */
clf_status clfi_program_cache_key(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source,
                                  char out[CLFI_HASH_TEXT_BYTES]);

/* Loads the built program. NULL: it is not there or not valid, or there is no cache. */
cl_program clfi_program_cache_load(const clf_context *context, const char *kernel, const char *key);

/* Writes the program's binary; there must be a cache. DEVICE: the driver returns no binary. IO, OUT_OF_MEMORY. */
clf_status clfi_program_cache_write(const clf_context *context, cl_program program, const char *kernel, const char *key);

/* As clfi_program_cache_write, but a failure is logged. */
void clfi_program_cache_store(const clf_context *context, cl_program program, const char *kernel, const char *key);

#endif
