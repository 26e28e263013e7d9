/* SPDX-License-Identifier: MIT */
/* Holds one lock for all queues of devices with caps.mixes_grids, and the widest launch of each kernel so far. */
#include "runtime/queue_order.h"

#include <pthread.h>
#include <string.h>

enum { KERNELS_MOST = 96 /* PoCL unloads kernels beyond 128. A full table is emptied: the kernels' next launches count as the widest */ };

typedef struct launched_kernel {
    char key[CLFI_HASH_TEXT_BYTES]; /* of its program */
    size_t local[3], width;         /* width: most work-groups in one dimension so far */
} launched_kernel;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards everything below */
static clf_context *first;
static launched_kernel launched[KERNELS_MOST];
static size_t launched_count;

void clfi_queue_add(clf_context *context)
{
    if (!context->device.caps.mixes_grids)
        return;
    pthread_mutex_lock(&lock);
    context->next_queue = first;
    first = context;
    pthread_mutex_unlock(&lock);
}

void clfi_queue_remove(clf_context *context)
{
    if (!context->device.caps.mixes_grids)
        return;
    pthread_mutex_lock(&lock);
    for (clf_context **at = &first; *at; at = &(*at)->next_queue)
        if (*at == context) {
            *at = context->next_queue;
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* Finishes the other queues; false: there are none. The caller holds the lock. */
static bool finish_others(const clf_context *context)
{
    bool has_others = false;
    for (const clf_context *other = first; other; other = other->next_queue)
        if (other != context) {
            clFinish(other->queue); /* its own thread gets the failure */
            has_others = true;
        }
    return has_others;
}

/* Whether no launch of this kernel was as wide before. If so, the width is remembered. The caller holds the lock. */
static bool is_widest(const char key[CLFI_HASH_TEXT_BYTES], const size_t local[3], size_t width)
{
    size_t i = 0;
    while (i < launched_count &&
           (memcmp(launched[i].local, local, sizeof launched[i].local) != 0 || memcmp(launched[i].key, key, sizeof launched[i].key) != 0))
        i++;
    if (i < launched_count && launched[i].width >= width)
        return false;
    if (i == KERNELS_MOST)
        i = launched_count = 0;
    launched_count += i == launched_count;
    memcpy(launched[i].key, key, sizeof launched[i].key);
    memcpy(launched[i].local, local, sizeof launched[i].local);
    launched[i].width = width;
    return true;
}

cl_int clfi_queue_launch(clf_context *context, cl_kernel kernel, const char key[CLFI_HASH_TEXT_BYTES], cl_uint dimensions,
                         const size_t *offset, const size_t *global, const size_t *local, cl_event *event)
{
    size_t size[3] = {1, 1, 1}, width = 0;
    if (!context->device.caps.mixes_grids)
        return clEnqueueNDRangeKernel(context->queue, kernel, dimensions, offset, global, local, 0, NULL, event);
    for (cl_uint i = 0; i < dimensions; i++) {
        size[i] = local[i];
        width = global[i] / local[i] > width ? global[i] / local[i] : width;
    }
    pthread_mutex_lock(&lock);
    const bool is_alone = is_widest(key, size, width) && finish_others(context);
    const cl_int code = clEnqueueNDRangeKernel(context->queue, kernel, dimensions, offset, global, local, 0, NULL, event);
    if (is_alone && code == CL_SUCCESS)
        clFinish(context->queue);
    pthread_mutex_unlock(&lock);
    return code;
}

void clfi_queues_stop(clf_context *context)
{
    if (!context->device.caps.mixes_grids)
        return;
    pthread_mutex_lock(&lock);
    finish_others(context);
    clFinish(context->queue);
}

void clfi_queues_go(clf_context *context)
{
    if (context->device.caps.mixes_grids)
        pthread_mutex_unlock(&lock);
}
