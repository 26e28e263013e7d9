/* SPDX-License-Identifier: MIT */
/* Compiled programs on disk.
 *
 * Directory: mode 0700, below the user's cache directory; a directory that belongs to somebody else is not used.
 * File name: hash over format version, source text, options, platform, device and driver, so any change of one of them misses.
 * File: "CLFPROG1", 32 hexadecimal digits of the payload's hash, payload (the driver's binary).
 * Writing: temporary file + rename, so readers in other processes see a whole file or none. A file that is short, altered or refused by
 * the driver is ignored and written again. */
#ifndef CLFI_RUNTIME_PROGRAM_CACHE_H
#define CLFI_RUNTIME_PROGRAM_CACHE_H

#include "base/str.h"
#include "runtime/program.h"

/* The file for this program; *out NULL when the context has no cache. Caller frees. */
clf_status clfi_program_cache_path(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source, char **out);

/* The built program, or NULL when it is not there or not sound. path NULL gives NULL. */
cl_program clfi_program_cache_load(clf_context *context, const char *path);

void clfi_program_cache_store(clf_context *context, cl_program program, const char *path);

/* Creates the directory and checks its owner and mode; a reason not to use it is logged and false returned. */
bool clfi_program_cache_prepare(clf_context *context, const char *directory);

#endif
