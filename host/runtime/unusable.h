/* SPDX-License-Identifier: MIT */
/* Remembers programs on which the driver's compiler crashed or hung, beside the compiled ones (runtime/program_cache.h). The file
 * "unusable-<key>" in the cache directory holds the reason. The program is tried again if the driver's version or the kernel's text
 * changes, because the key changes with them, or if the file is deleted or damaged. */
#ifndef CLFI_RUNTIME_UNUSABLE_H
#define CLFI_RUNTIME_UNUSABLE_H

#include "base/str.h"
#include "runtime/context.h"

/* Appends why the program with this key cannot be built. NOT_FOUND: nothing is remembered, or there is no cache. OUT_OF_MEMORY. */
clf_status clfi_unusable_find(const clf_context *context, const char *key, clf_str *out);

/* Remembers the reason if there is a cache; a failure is logged. */
void clfi_unusable_keep(const clf_context *context, const char *key, const char *reason);

#endif
