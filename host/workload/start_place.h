/* SPDX-License-Identifier: MIT */
/* Workloads that begin without a context: on the device of the context that they are prepared with, and with its cache of programs. */
#ifndef CLFI_WORKLOAD_START_PLACE_H
#define CLFI_WORKLOAD_START_PLACE_H

#include <stdbool.h>

#include "workload/workload.h"

/* Device and settings of the contexts that measure a program's start. Text is owned. */
typedef struct clfi_start_place {
    char device[32]; /* index in the list of devices */
    char *cache_dir; /* "": programs are built from their source */
    char *engines, *kernel_dir, *tuned_file;
    clf_precision precision;
    bool is_cold;
} clfi_start_place;

/* is_cold: neither a cache of ours nor one of the driver's has the programs. UNSUPPORTED: the context has no cache to start from. */
clf_status clfi_start_place_find(const clf_context *context, bool is_cold, clfi_start_place *out);
void clfi_start_place_free(clfi_start_place *place); /* zeros are accepted */

/* One kind of start, and what of it lasts: the first member of the workload's state. */
typedef struct clfi_start {
    clfi_start_place place;
    /* Loads in a new context, sets memory.weights_bytes and begins the count of what a run takes (clfi_usage_restart). */
    clf_status (*open)(struct clfi_start *start, clf_context *context);
    clf_status (*use)(struct clfi_start *start); /* until the numbers are on the host */
    void (*close)(struct clfi_start *start);     /* what was opened, where it was */
    clfi_workload_memory memory;                 /* of the latest run */
} clfi_start;

/* One start; elapsed_ns: until the numbers are there, the end of the context not included. */
clf_status clfi_start_once(clfi_start *start, double *elapsed_ns);

/* A workload type's functions of those names. */
clf_status clfi_start_run(void *state, clfi_sample *out);
void clfi_start_memory(const void *state, clfi_workload_memory *out);

#endif
