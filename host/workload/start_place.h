/* SPDX-License-Identifier: MIT */
/* Shared parts of workloads that begin without a context. They run on the device of the context that they are prepared with, and with
 * its cache of programs. */
#ifndef CLFI_WORKLOAD_START_PLACE_H
#define CLFI_WORKLOAD_START_PLACE_H

#include <stdbool.h>

#include "workload/workload.h"

/* Device and settings of the contexts that measure a program's start. Strings are owned. */
typedef struct clfi_start_place {
    char device[32]; /* its index in the list of devices, as text */
    char *cache_dir; /* "": programs are built from their source */
    char *engines, *kernel_dir, *tuned_file;
    clf_precision precision;
    bool is_cold;
} clfi_start_place;

/* Takes the settings of a context. is_cold: no program comes from the library's cache or the driver's. The caller frees *out, also after
 * a failure. UNSUPPORTED: not cold, and the context has no cache of programs. OUT_OF_MEMORY. */
clf_status clfi_start_place_find(const clf_context *context, bool is_cold, clfi_start_place *out);
void clfi_start_place_free(clfi_start_place *place); /* zeros are accepted */

/* One kind of start: settings, callbacks and figures of the latest run. It is the first member of the workload's state. */
typedef struct clfi_start {
    clfi_start_place place;
    /* Loads the model in a new context, sets memory.weights_bytes and restarts the count of the memory that a run takes
     * (clfi_usage_restart). */
    clf_status (*open)(struct clfi_start *start, clf_context *context);
    clf_status (*use)(struct clfi_start *start); /* runs until the results are on the host */
    void (*close)(struct clfi_start *start);     /* closes what `open` opened, also after it failed */
    clfi_workload_memory memory;                 /* of the latest run */
} clfi_start;

/* Runs one start. *elapsed_ns: time until the results are on the host, without closing the context. Forwards failures of the callbacks. */
clf_status clfi_start_once(clfi_start *start, double *elapsed_ns);

/* `run` and `memory` of clfi_workload_type. */
clf_status clfi_start_run(void *state, clfi_sample *out);
void clfi_start_memory(const void *state, clfi_workload_memory *out);

#endif
