/* SPDX-License-Identifier: MIT */
/* Profile of a context: kernel events and host phases on one time line, totals per kernel, Chrome trace. */
#ifndef CLFI_RUNTIME_PROFILE_H
#define CLFI_RUNTIME_PROFILE_H

#include "runtime/context.h"

clf_status clfi_profile_create(clf_profile **out);
void clfi_profile_destroy(clf_profile *profile);

/* Takes ownership of the event, also on failure. name: a kernel's name, which must outlive the profile. OUT_OF_MEMORY. */
clf_status clfi_profile_kernel(clf_profile *profile, const char *name, cl_event event);

/* Adds a host phase; name: a literal; times from clfi_now_ns. No-op unless the context profiles. */
void clfi_profile_phase(clf_context *context, const char *name, uint64_t start_ns, uint64_t end_ns);

/* Reads the times of all events so far; the queue must have finished. Returns their sum in ns, and raises *longest to the longest of
 * them. */
uint64_t clfi_profile_collect(clf_profile *profile, uint64_t *longest);

/* Drops the spans of the trace, so that its memory does not grow over a long series of runs. Totals stay. NULL is a no-op. */
void clfi_profile_forget(clf_profile *profile);

#endif
