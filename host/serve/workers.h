/* SPDX-License-Identifier: MIT */
/* The workers of all devices. They take jobs from one queue, each when it has room, so that a faster device gets more of them. */
#ifndef CLFI_SERVE_WORKERS_H
#define CLFI_SERVE_WORKERS_H

#include "serve/worker.h"

typedef struct srv_device {
    clf_context *context; /* its worker's alone from the start to srv_workers_join */
    const char *name;     /* for messages; borrowed */
} srv_device;

typedef struct srv_workers srv_workers;

/* Starts a worker for each device; they load the models one after another. params: its device and loading do not count. IO: no thread;
 * the queue is closed then. */
clf_status srv_workers_start(const srv_worker_params *params, const srv_device *devices, size_t count, srv_workers **out);

/* READY: every worker is, or has failed while another one is; what failed is in the log. FAILED: all have, for the first one's reason. */
srv_worker_state srv_workers_get_state(srv_workers *workers, clf_status *out_status, const char **out_reason);

/* Workers that have loaded the models and whose device answers. */
size_t srv_workers_ready(srv_workers *workers);

/* Ends the threads once the queue is closed. NULL is a no-op. */
void srv_workers_join(srv_workers *workers);

/* Bytes on all devices now. */
double srv_workers_device_bytes(srv_workers *workers);

#endif
