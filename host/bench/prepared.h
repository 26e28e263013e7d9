/* SPDX-License-Identifier: MIT */
/* Workloads that stand ready on a context, kept between visits as far as memory allows. */
#ifndef CLFI_BENCH_PREPARED_H
#define CLFI_BENCH_PREPARED_H

#include "workload/workload.h"

typedef struct clfi_prepared {
    const clfi_workload *workload;
    char *engine;
    void *state;
    size_t bytes; /* that it took on the device */
} clfi_prepared;

typedef struct clfi_prepared_set {
    clf_context *context;
    clfi_prepared *items; /* the least recently used first */
    size_t count, capacity;
    size_t budget_bytes; /* above it the least recently used go, all but the newest */
} clfi_prepared_set;

/* The state of the workload on that engine: a kept one, or a new one. The set owns it, until the next call. Forwards the failures of
 * prepare. */
clf_status clfi_prepared_get(clfi_prepared_set *set, const clfi_workload *workload, const char *engine, void **out);

/* Releases all states. */
void clfi_prepared_clear(clfi_prepared_set *set);

#endif
