/* SPDX-License-Identifier: MIT */
/* Keeps short texts about kernels in the cache directory: results of running a kernel, such as a probe's answer or a measured rate. The key
 * depends on the device, the driver and the kernel's source, so a text is not found after one of them has changed. */
#ifndef CLFI_RUNTIME_KEPT_TEXT_H
#define CLFI_RUNTIME_KEPT_TEXT_H

#include "base/hash.h"
#include "runtime/context.h"
#include "runtime/kernel_spec.h"

enum { CLFI_KEPT_BYTES = 128 /* size of the longest text, with its NUL */ };

/* Key of a text. program: the key of the kernel's program; "": unknown, so that nothing is read or kept. */
typedef struct clf_kept_key {
    char program[CLFI_HASH_TEXT_BYTES];
    const char *kind; /* the beginning of the file's name, at most 15 characters; static storage */
} clf_kept_key;

/* Computes the key. *out is set in any case: after a failure its program is "". Errors as clfi_kernel_source. */
clf_status clfi_kept_find(const clf_context *context, const char *kind, const clf_kernel_spec *spec, clf_kept_key *out);

/* Reads the text. False: there is none, or it is damaged. */
bool clfi_kept_read(const clf_context *context, const clf_kept_key *key, char text[CLFI_KEPT_BYTES]);

/* Writes the text; a failure is logged. */
void clfi_kept_write(const clf_context *context, const clf_kept_key *key, const char *text);

#endif
