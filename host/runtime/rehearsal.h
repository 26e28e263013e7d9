/* SPDX-License-Identifier: MIT */
/* Finds the kernels that a piece of work needs before the first of them is compiled, by running the work once without the queue. */
#ifndef CLFI_RUNTIME_REHEARSAL_H
#define CLFI_RUNTIME_REHEARSAL_H

#include "runtime/kernel_spec.h"
#include "runtime/context.h"

/* A kernel that was asked for. */
typedef struct clf_rehearsed_kernel {
    clf_kernel_spec spec;
    uint64_t hash;   /* of the spec's options */
    uint64_t askers; /* the engines that asked for it, one bit each, as in context->asker */
    bool is_graphs;  /* only a launch graph needs it, which is not used if the kernel is unusable */
    size_t item;     /* clf_rehearsal.item when it was first asked for */
} clf_rehearsed_kernel;

/* The kernels that the work asked for, each once. */
typedef struct clf_rehearsal {
    clf_rehearsed_kernel *kernels;
    size_t count, capacity;
    size_t item;         /* which of the items of clfi_rehearse_all is rehearsed */
    bool has_foreign;    /* an item asked for kernels that another library compiles */
    size_t foreign_item; /* the first of these items */
} clf_rehearsal;

/* Calls work(user), then loads the programs that the cache on disk has, and builds the others, several at once if possible. In work,
 * launches are noted, and transfers to and from the device do nothing, so work must not look at what it reads. context->builds_expected
 * becomes the number of programs that the context has built and will have to build. An engine with an unusable kernel is left out from then
 * on (context->unbuilt), and the rehearsal is repeated with the engine that takes its place. Returns work's error, or those of
 * clfi_program_find. */
clf_status clfi_rehearse(clf_context *context, clf_status (*work)(void *user), void *user);

/* Makes all kernels of work(user, i), for every i below `count`, ready for use. All items are one rehearsal. Then each item that is the
 * first to ask for a kernel that the context has not launched yet is done once: some drivers finish compiling at the first launch. Errors
 * as clfi_rehearse. */
clf_status clfi_rehearse_all(clf_context *context, clf_status (*work)(void *user, size_t item), void *user, size_t count);

/* In a rehearsal: notes a launch's kernel. *out_index: its index. OUT_OF_MEMORY. */
clf_status clfi_rehearsal_note(clf_context *context, const clf_kernel_spec *spec, size_t *out_index);

/* In a rehearsal: notes that the work needs kernels which another library compiles when it first runs them. */
void clfi_rehearsal_note_foreign(clf_context *context);

/* In a rehearsal: notes `spec` in place of the kernel that was noted with the same parts. False: none was. */
bool clfi_rehearsal_replace(clf_context *context, const clf_kernel_spec *spec);

/* In a rehearsal: sets the size of the work-groups of a noted kernel. */
void clfi_rehearsal_size(clf_context *context, size_t index, unsigned dimensions, const size_t *local);

#endif
