/* SPDX-License-Identifier: MIT */
/* Profile of a context: kernel events and host phases on one time line, totals per kernel, Chrome trace. */
#ifndef CLFI_RUNTIME_PROFILE_H
#define CLFI_RUNTIME_PROFILE_H

#include "runtime/context.h"

clf_status clfi_profile_create(clf_profile **out);
void clfi_profile_destroy(clf_profile *profile);

/* Takes over the event. name must outlive the profile (a kernel's name). */
clf_status clfi_profile_kernel(clf_profile *profile, const char *name, cl_event event);

/* A host phase (a literal name), times from clfi_now_ns. No-op unless the context profiles. */
void clfi_profile_phase(clf_context *context, const char *name, uint64_t start_ns, uint64_t end_ns);

/* Reads the times of all events so far; the queue must have finished. Returns their sum; *longest grows to the longest. */
uint64_t clfi_profile_collect(clf_profile *profile, uint64_t *longest);

/* Drops what the trace would show, so that a long series of runs needs no more and more memory. NULL is a no-op. */
void clfi_profile_forget(clf_profile *profile);

#endif
