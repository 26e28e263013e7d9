/* SPDX-License-Identifier: MIT */
/* Compiled programs on disk.
 *
 * Directory: a private one (base/private_directory.h), below the user's cache directory.
 * Key: hash over format version, source text, options, platform, device and driver, so any change of one of them misses.
 * File: "<kernel>-<key>.bin", the driver's binary (runtime/cache_file.h). A file that is short, altered, another program's, refused by
 * the driver or without the kernel is ignored and written again. */
#ifndef CLFI_RUNTIME_PROGRAM_CACHE_H
#define CLFI_RUNTIME_PROGRAM_CACHE_H

#include "base/hash.h"
#include "base/str.h"
#include "runtime/context.h"
#include "runtime/kernel_spec.h"

/* Sets the cache that the context shares; a reason not to use the directory is logged, and the cache stays NULL. */
void clfi_program_cache_open(clf_context *context, const char *directory);

/* The key of this program. */
clf_status clfi_program_cache_key(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source,
                                  char out[CLFI_HASH_TEXT_BYTES]);

/* The built program, or NULL when it is not there or not sound, or there is no cache. */
cl_program clfi_program_cache_load(const clf_context *context, const char *kernel, const char *key);

/* Writes the program's binary. DEVICE: the driver gives none. IO, OUT_OF_MEMORY. */
clf_status clfi_program_cache_write(const clf_context *context, cl_program program, const char *kernel, const char *key);

/* The same; a failure is logged. */
void clfi_program_cache_store(const clf_context *context, cl_program program, const char *kernel, const char *key);

#endif
