/* SPDX-License-Identifier: MIT */
/* Starts and ends one worker for each device. */
#include "serve/workers.h"

#include <stdlib.h>

#include "base/alloc.h"

struct srv_workers {
    srv_worker **at; /* [count] */
    size_t count;
    pthread_mutex_t loading;
};

static clf_status start_all(srv_workers *workers, const srv_worker_params *params, const srv_device *devices, size_t count)
{
    CLF_TRY(clfi_alloc(count, sizeof(srv_worker *), "workers", &workers->at));
    for (size_t i = 0; i < count; i++) {
        srv_worker_params own = *params;
        own.context = devices[i].context;
        own.device = count > 1 ? devices[i].name : NULL;
        own.loading = &workers->loading;
        CLF_TRY(srv_worker_start(&own, &workers->at[i]));
        workers->count++;
    }
    return CLF_OK;
}

clf_status srv_workers_start(const srv_worker_params *params, const srv_device *devices, size_t count, srv_workers **out)
{
    srv_workers *workers;
    CLF_TRY(clfi_alloc(1, sizeof *workers, "workers", &workers));
    pthread_mutex_init(&workers->loading, NULL);
    const clf_status st = start_all(workers, params, devices, count);
    if (st == CLF_OK) {
        *out = workers;
    } else {
        srv_queue_close(params->queue);
        srv_workers_join(workers);
    }
    return st;
}

srv_worker_state srv_workers_get_state(srv_workers *workers, clf_status *out_status, const char **out_reason)
{
    bool any_ready = false;
    for (size_t i = workers->count; i-- > 0;) {
        const srv_worker_state state = srv_worker_get_state(workers->at[i], out_status, out_reason);
        if (state == SRV_WORKER_LOADS)
            return state;
        any_ready |= state != SRV_WORKER_FAILED;
    }
    return any_ready ? SRV_WORKER_READY : SRV_WORKER_FAILED;
}

size_t srv_workers_ready(srv_workers *workers)
{
    size_t count = 0;
    for (size_t i = 0; i < workers->count; i++)
        count += srv_worker_get_state(workers->at[i], NULL, NULL) == SRV_WORKER_READY;
    return count;
}

void srv_workers_join(srv_workers *workers)
{
    if (!workers)
        return;
    for (size_t i = 0; i < workers->count; i++)
        srv_worker_join(workers->at[i]);
    pthread_mutex_destroy(&workers->loading);
    free(workers->at);
    free(workers);
}

double srv_workers_device_bytes(srv_workers *workers)
{
    double sum = 0;
    for (size_t i = 0; i < workers->count; i++)
        sum += srv_worker_device_bytes(workers->at[i]);
    return sum;
}
