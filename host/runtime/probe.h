/* SPDX-License-Identifier: MIT */
/* Probes: whether a device computes right what it only says it can. A probe builds and runs a small kernel, compares its numbers with the
 * host's, and is remembered in the cache directory per device, driver and kernel. What fails is a quiet no. */
#ifndef CLFI_RUNTIME_PROBE_H
#define CLFI_RUNTIME_PROBE_H

#include "runtime/context.h"

typedef enum clf_probe { CLFI_PROBE_SUBGROUPS /* sums by sub-groups (row_sum.cl) */, CLFI_PROBE_COUNT } clf_probe;

extern const char *const clfi_probe_names[CLFI_PROBE_COUNT];

/* Whether kernels may use it. The first question on a context reads the cache or runs the probe, also in a rehearsal. */
bool clfi_probe(clf_context *context, clf_probe what);

/* The same in words: "yes", "no: the device has none", "no: " and what went wrong. Borrowed from the context. */
const char *clfi_probe_text(clf_context *context, clf_probe what);

#endif
