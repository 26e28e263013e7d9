/* SPDX-License-Identifier: MIT */
/* The workers of all devices. Each takes jobs from the one queue when it has room, so that a faster device gets more jobs. */
#ifndef CLFI_SERVE_WORKERS_H
#define CLFI_SERVE_WORKERS_H

#include "serve/worker.h"

typedef struct srv_device {
    clf_context *context; /* used by its worker alone, from the start to srv_workers_join */
    const char *name;     /* for messages; borrowed */
} srv_device;

typedef struct srv_workers srv_workers;

/* Starts a worker for each device; they load the models one after another. params: context, device and loading are ignored. IO: no thread.
 * OUT_OF_MEMORY. After a failure to start a worker the queue is closed. */
clf_status srv_workers_start(const srv_worker_params *params, const srv_device *devices, size_t count, srv_workers **out);

/* LOADS: a worker still loads. READY: a worker has loaded the models; failures of others are in the log. FAILED: all have failed, with the
 * first worker's status and reason. */
srv_worker_state srv_workers_get_state(srv_workers *workers, clf_status *out_status, const char **out_reason);

/* Workers that have loaded the models and whose device answers. */
size_t srv_workers_ready(srv_workers *workers);

/* Waits for the ends of the threads, which come after the queue is closed, and frees the workers. NULL is a no-op. */
void srv_workers_join(srv_workers *workers);

/* Sum of srv_worker_device_bytes. */
double srv_workers_device_bytes(srv_workers *workers);

#endif
