/* SPDX-License-Identifier: MIT */
/* Keeps workloads prepared on a context from one visit to the next (a benchmark visits each workload once per round, see run.h), as far as
 * memory allows. */
#ifndef CLFI_BENCH_PREPARED_H
#define CLFI_BENCH_PREPARED_H

#include "workload/workload.h"

typedef struct clfi_prepared {
    const clfi_workload *workload;
    char *engine;
    void *state;
    size_t bytes; /* device memory that it takes */
} clfi_prepared;

typedef struct clfi_prepared_set {
    clf_context *context;
    clfi_prepared *items; /* the least recently used first */
    size_t count, capacity;
    size_t budget_bytes; /* limit of the sum of `bytes`: beyond it the least recently used states are released, but never the newest */
} clfi_prepared_set;

/* Finds or makes the prepared state of the workload on that engine. The set owns it; *out is valid until the next call. Forwards failures
 * of preparing. After OUT_OF_MEMORY it releases all other states and tries again. */
clf_status clfi_prepared_get(clfi_prepared_set *set, const clfi_workload *workload, const char *engine, void **out);

/* Releases all states; the set can be used again. */
void clfi_prepared_clear(clfi_prepared_set *set);

#endif
