/* SPDX-License-Identifier: MIT */
/* Finds the kernels that a piece of work needs, before the first of them is compiled: the work runs once without entering the queue. */
#ifndef CLFI_RUNTIME_REHEARSAL_H
#define CLFI_RUNTIME_REHEARSAL_H

#include "runtime/kernel_spec.h"
#include "runtime/context.h"

/* A kernel that was asked for. */
typedef struct clf_rehearsed_kernel {
    clf_kernel_spec spec;
    uint64_t askers; /* engines: bits of context->asker */
    bool is_graphs;  /* a launch graph needs it, and does without where it is unusable */
} clf_rehearsed_kernel;

/* Each once. */
typedef struct clf_rehearsal {
    clf_rehearsed_kernel *kernels;
    size_t count, capacity;
} clf_rehearsal;

/* Calls work(user): launches are noted, writes to the device and reads from it left out, so that it must not look at what it reads. Then
 * programs that the cache on disk has are loaded, and the others are built, several at once where that is possible.
 * context->builds_expected counts the programs that the context has built and will have to build. An engine of which a kernel turns out to
 * be unusable is left out from then on (context->unbuilt), and all is done again for those that take its place. */
clf_status clfi_rehearse(clf_context *context, clf_status (*work)(void *user), void *user);

/* In a rehearsal: a launch's kernel, and later the size of its work-groups, `dimensions` numbers. */
clf_status clfi_rehearsal_note(clf_context *context, const clf_kernel_spec *spec, size_t *out_index);
void clfi_rehearsal_size(clf_context *context, size_t index, unsigned dimensions, const size_t *local);

#endif
