/* SPDX-License-Identifier: MIT */
/* What kernels a piece of work needs, known before the first of them is compiled: the work is gone through once, and nothing enters the
 * queue. */
#ifndef CLFI_RUNTIME_REHEARSAL_H
#define CLFI_RUNTIME_REHEARSAL_H

#include "runtime/kernel_spec.h"
#include "runtime/context.h"

/* Kernels that were asked for, each once. */
typedef struct clf_rehearsal {
    clf_kernel_spec *specs;
    size_t count, capacity;
} clf_rehearsal;

/* Calls work(user): launches are noted, writes to the device and reads from it left out, so that it must not look at what it reads. Then
 * programs that the cache on disk has are loaded, context->builds_expected counts those that the context has built and will have to
 * build, and a device whose compiler may run in several threads builds them, several at once. */
clf_status clfi_rehearse(clf_context *context, clf_status (*work)(void *user), void *user);

/* In a rehearsal: a launch's kernel. */
clf_status clfi_rehearsal_note(clf_context *context, const clf_kernel_spec *spec);

#endif
