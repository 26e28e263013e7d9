/* SPDX-License-Identifier: MIT */
/* Keeps workloads prepared on a context between visits, as far as memory allows. */
#ifndef CLFI_BENCH_PREPARED_H
#define CLFI_BENCH_PREPARED_H

#include "workload/workload.h"

typedef struct clfi_prepared {
    const clfi_workload *workload;
    char *engine;
    void *state;
    size_t bytes; /* device memory that preparing it took */
} clfi_prepared;

typedef struct clfi_prepared_set {
    clf_context *context;
    clfi_prepared *items; /* the least recently used first */
    size_t count, capacity;
    size_t budget_bytes; /* beyond this sum the least recently used are released, except the newest */
} clfi_prepared_set;

/* The prepared state of the workload on that engine, kept or new. The set owns it; *out is valid until the next call. Forwards failures
 * of preparing. After OUT_OF_MEMORY it releases all other states and tries again. */
clf_status clfi_prepared_get(clfi_prepared_set *set, const clfi_workload *workload, const char *engine, void **out);

/* Releases all states; the set can be used again. */
void clfi_prepared_clear(clfi_prepared_set *set);

#endif
