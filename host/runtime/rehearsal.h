/* SPDX-License-Identifier: MIT */
/* Finds the kernels that a piece of work needs before the first of them is compiled, by running the work once without the queue. */
#ifndef CLFI_RUNTIME_REHEARSAL_H
#define CLFI_RUNTIME_REHEARSAL_H

#include "runtime/kernel_spec.h"
#include "runtime/context.h"

/* A kernel that was asked for. */
typedef struct clf_rehearsed_kernel {
    clf_kernel_spec spec;
    uint64_t askers; /* the engines that asked for it, one bit each, as in context->asker */
    bool is_graphs;  /* only a launch graph needs it, which is not used if the kernel is unusable */
} clf_rehearsed_kernel;

/* The kernels that the work asked for, each once. */
typedef struct clf_rehearsal {
    clf_rehearsed_kernel *kernels;
    size_t count, capacity;
} clf_rehearsal;

/* Calls work(user), then loads the programs that the cache on disk has, and builds the others, several at once if possible. In work,
 * launches are noted, and transfers to and from the device do nothing, so work must not look at what it reads. context->builds_expected
 * becomes the number of programs that the context has built and will have to build. An engine with an unusable kernel is left out from then
 * on (context->unbuilt), and the rehearsal is repeated with the engine that takes its place. Returns work's error, or those of
 * clfi_program_find. */
clf_status clfi_rehearse(clf_context *context, clf_status (*work)(void *user), void *user);

/* In a rehearsal: notes a launch's kernel (*out_index: its index), and later the size of its work-groups, `dimensions` numbers.
 * OUT_OF_MEMORY. */
clf_status clfi_rehearsal_note(clf_context *context, const clf_kernel_spec *spec, size_t *out_index);
void clfi_rehearsal_size(clf_context *context, size_t index, unsigned dimensions, const size_t *local);

#endif
