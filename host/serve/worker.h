/* SPDX-License-Identifier: MIT */
/* The thread of a device: it loads the models, warms them up, and then does jobs of the queue until the queue is closed. If the device is
 * lost and cannot be recovered, other workers continue its jobs, and the worker tries again after a pause. */
#ifndef CLFI_SERVE_WORKER_H
#define CLFI_SERVE_WORKER_H

#include "serve/metrics.h"
#include "serve/models.h"
#include "serve/queue.h"
#include "serve/texts_lane.h"

typedef enum srv_worker_state {
    SRV_WORKER_LOADS,
    SRV_WORKER_READY,
    SRV_WORKER_LOST, /* its device does not answer; other workers do its jobs */
    SRV_WORKER_FAILED
} srv_worker_state;

typedef struct srv_worker_params {
    clf_context *context;     /* used by the worker alone, from the start to srv_worker_join */
    const char *device;       /* for messages; NULL: it is the only one */
    pthread_mutex_t *loading; /* held while a worker loads */
    srv_models *models;       /* loaded by the first worker; the others open them once more. Constant once all are ready */
    clf_model_params model_params;
    srv_queue *queue;
    srv_metrics *metrics;
    srv_texts_limits limits;
    void (*log)(void *user, const char *text); /* lines about loading and failures */
    void *log_user;
} srv_worker_params;

typedef struct srv_worker srv_worker;

/* Starts the thread. IO: the thread cannot be created. OUT_OF_MEMORY. */
clf_status srv_worker_start(const srv_worker_params *params, srv_worker **out);

/* *out_status, *out_reason (each may be NULL): why it failed or was lost; OK and "" if neither. The worker owns the reason. */
srv_worker_state srv_worker_get_state(srv_worker *worker, clf_status *out_status, const char **out_reason);

/* Waits for the end of the thread, which comes after the queue is closed, and frees the worker. NULL is a no-op. */
void srv_worker_join(srv_worker *worker);

/* Bytes of device memory and of host memory used in place, when the worker was last idle; 0 before it is ready. */
double srv_worker_device_bytes(srv_worker *worker);

#endif
