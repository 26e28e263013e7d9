/* SPDX-License-Identifier: MIT */
/* Kernels of the probes, and the checks of their results, for probe.c. */
#ifndef CLFI_RUNTIME_PROBE_CASES_H
#define CLFI_RUNTIME_PROBE_CASES_H

#include "runtime/kernel_spec.h"
#include "runtime/probe.h"

enum { CLFI_PROBE_WORDS = 2048 };

/* Elements of both buffers. */
typedef union clf_probe_word {
    cl_float real;
    cl_int integer;
    cl_uint bits;
} clf_probe_word;

/* One launch of a kernel (x, y) over `groups` work-groups of `group` items. */
typedef struct clf_probe_run {
    clf_kernel_spec spec;
    int groups, group;
    int x_words, y_words; /* 1 .. CLFI_PROBE_WORDS */
} clf_probe_run;

typedef struct clf_probe_case {
    const char *name;
    bool (*is_claimed)(const clf_device_caps *caps);
    clf_probe_run (*run)(const clf_device_caps *caps, int group);
    void (*fill)(const clf_probe_run *run, clf_probe_word *x);
    bool (*is_right)(const clf_probe_run *run, const clf_probe_word *x, const clf_probe_word *y);
    int group;     /* work-items of a work-group, if probes of a family differ in it; 0: the only probe of its family */
    bool is_apart; /* drivers are known to crash or hang in it: it runs in a process of its own first, if that is possible */
    clf_status (*permit)(const clf_device_caps *caps); /* gets what a process needs to run the kernel; NULL: nothing */
} clf_probe_case;

/* The row of CLFI_PROBE_NONE is empty. */
extern const clf_probe_case clfi_probe_cases[CLFI_PROBE_COUNT];

#endif
