/* SPDX-License-Identifier: MIT */
/* Short texts that the cache directory keeps for a kernel: an answer or a rate that a run of it has shown. Another device, another driver
 * or another text of the kernel has another key, and so none of them. */
#ifndef CLFI_RUNTIME_KEPT_TEXT_H
#define CLFI_RUNTIME_KEPT_TEXT_H

#include "base/hash.h"
#include "runtime/context.h"
#include "runtime/kernel_spec.h"

enum { CLFI_KEPT_BYTES = 128 /* of a text with its NUL */ };

/* The key of the kernel's program. "": it is not known, and nothing is kept. */
typedef struct clf_kept_key {
    char program[CLFI_HASH_TEXT_BYTES];
    const char *kind; /* the beginning of the file's name; static storage */
} clf_kept_key;

/* *out is set in any case. */
clf_status clfi_kept_find(const clf_context *context, const char *kind, const clf_kernel_spec *spec, clf_kept_key *out);

/* False: there is none. */
bool clfi_kept_read(const clf_context *context, const clf_kept_key *key, char text[CLFI_KEPT_BYTES]);

/* Failures are logged. */
void clfi_kept_write(const clf_context *context, const clf_kept_key *key, const char *text);

#endif
