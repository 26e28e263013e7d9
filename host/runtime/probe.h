/* SPDX-License-Identifier: MIT */
/* Probes test that a device computes correctly what it claims to support. A probe builds and runs a small kernel, compares its numbers with
 * the host's, and is remembered in the cache directory per device, driver and kernel. A failed probe means no; only wrong numbers of a
 * matrix unit are logged as an error. The probe of a matrix unit first runs in a process of its own (runtime/outside_build.h), so that a
 * driver that crashes or hangs means no, too. */
#ifndef CLFI_RUNTIME_PROBE_H
#define CLFI_RUNTIME_PROBE_H

#include "runtime/context.h"

typedef enum clf_probe {
    CLFI_PROBE_NONE,        /* no probe: the answer is yes */
    CLFI_PROBE_ROW_SUMS,    /* sums of a row by sub-groups (row_sum.cl), in work-groups of 64 items */
    CLFI_PROBE_ROW_SUMS_128,
    CLFI_PROBE_ROW_SUMS_256,
    CLFI_PROBE_GROUP_SUMS, /* several sums at once by sub-groups (group_sums.cl), in work-groups of 16 items */
    CLFI_PROBE_GROUP_SUMS_32,
    CLFI_PROBE_GROUP_SUMS_64,
    CLFI_PROBE_GROUP_SUMS_128,
    CLFI_PROBE_GROUP_SUMS_256,
    CLFI_PROBE_BYTE_DOT,    /* products of bytes by a processor's instruction (byte_dot.cl) */
    CLFI_PROBE_NATIVE_EXP2, /* powers of two by a GPU's instruction (attention_group.cl) */
    CLFI_PROBE_HALF,        /* multiply-adds in half precision (half_four.cl) */
    CLFI_PROBE_MATRIX,      /* products of a matrix unit (matrix_unit.cl) */
    CLFI_PROBE_COUNT
} clf_probe;

/* The probe's name for users, static. */
const char *clfi_probe_name(clf_probe what);

/* Whether a device with these capabilities claims to support it. Nothing runs. NONE: yes. */
bool clfi_probe_is_claimed(const clf_device_caps *caps, clf_probe what);

/* Whether kernels may use it. The first call on a context reads the answer from the cache or runs the probe, also in a rehearsal. NONE:
 * yes. */
bool clfi_probe(const clf_context *context, clf_probe what);

/* The value of the macro SUBGROUPS (cl/gpu/subgroups.cl) for a kernel with work-groups of `group` items. family: ROW_SUMS or GROUP_SUMS. 0:
 * there is no probe of that family and size, or it says no. */
int clfi_probe_subgroups(const clf_context *context, clf_probe family, int group);

/* The answer of clfi_probe in words: "yes", "no: the device has none", or "no: " and what went wrong. Borrowed from the context. */
const char *clfi_probe_text(const clf_context *context, clf_probe what);

/* Runs the probe on this context, in this process, and keeps the answer in the cache: for clformer-compile. No-op if the device does not
 * claim it. */
void clfi_probe_run_here(clf_context *context, clf_probe what);

#endif
