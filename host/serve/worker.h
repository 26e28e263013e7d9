/* SPDX-License-Identifier: MIT */
/* The thread of a device: it loads the models, runs each once, and then does the jobs of the queue until that is closed. If the device is
 * lost for good, other workers continue its jobs, and it tries again after a pause. */
#ifndef CLFI_SERVE_WORKER_H
#define CLFI_SERVE_WORKER_H

#include "serve/metrics.h"
#include "serve/models.h"
#include "serve/queue.h"
#include "serve/texts_lane.h"

typedef enum srv_worker_state {
    SRV_WORKER_LOADS,
    SRV_WORKER_READY,
    SRV_WORKER_LOST, /* its device does not answer; others do its requests */
    SRV_WORKER_FAILED
} srv_worker_state;

typedef struct srv_worker_params {
    clf_context *context; /* the worker's alone from the start to srv_worker_join */
    const char *device;   /* for messages; NULL: it is the only one */
    pthread_mutex_t *loading; /* held while a worker loads */
    srv_models *models;   /* loaded by the first worker; the others open them once more. Constant once all are ready */
    clf_model_params model_params;
    srv_queue *queue;
    srv_metrics *metrics;
    srv_texts_limits limits;
    void (*log)(void *user, const char *text); /* lines about loading and failures */
    void *log_user;
} srv_worker_params;

typedef struct srv_worker srv_worker;

/* Starts the thread. IO: there is none. */
clf_status srv_worker_start(const srv_worker_params *params, srv_worker **out);

/* *reason (may be NULL): why it failed. */
srv_worker_state srv_worker_get_state(srv_worker *worker, clf_status *out_status, const char **out_reason);

/* Ends the thread once the queue is closed. NULL is a no-op. */
void srv_worker_join(srv_worker *worker);

/* Bytes on the device now; 0 before it is ready. */
double srv_worker_device_bytes(srv_worker *worker);

#endif
