/* SPDX-License-Identifier: MIT */
/* Public options structs, whose first member is the size that the caller was compiled with: read here and nowhere else. */
#ifndef CLFI_BASE_OPTIONS_H
#define CLFI_BASE_OPTIONS_H

#include <stddef.h>

#include "base/status.h"

/* *out (known bytes) = defaults, and over them as much of *given as its size covers; given NULL: the defaults. type: the struct's name.
 * INVALID_ARGUMENT: a size that no version of the struct has (0: not initialised). UNSUPPORTED: a later version's member that is not 0. */
clf_status clfi_options_read(const char *type, const void *given, const void *defaults, size_t known, void *out);

/* The first `size` bytes of *out = defaults, with that size as their first member, and 0 past the known ones. INVALID_ARGUMENT: out NULL,
 * or a size as above. */
clf_status clfi_options_default(const char *type, const void *defaults, size_t known, void *out, size_t size);

/* Defines the public type_default() and, for this file, type_read(given, out). */
#define CLFI_OPTIONS(type, INIT)                                                         \
    clf_status type##_default(type *out, size_t size)                                    \
    {                                                                                    \
        static const type defaults = INIT;                                               \
        return clfi_options_default(#type, &defaults, sizeof defaults, out, size);       \
    }                                                                                    \
    static clf_status type##_read(const type *given, type *out)                          \
    {                                                                                    \
        static const type defaults = INIT;                                               \
        return clfi_options_read(#type, given, &defaults, sizeof defaults, out);         \
    }

#endif
