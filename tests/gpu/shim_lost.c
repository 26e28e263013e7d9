/* SPDX-License-Identifier: MIT */
/* Counts calls on queues and loses the device at those that are named. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "shim_lost.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONTEXTS = 256 };

static struct {
    cl_context handle;
    bool is_lost;
} contexts[CONTEXTS];
static size_t context_count;
static unsigned long calls;
static bool is_gone; /* for good */
static _Thread_local bool is_thread_gone;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

EXPORT cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                                  void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *code)
{
    REAL(clCreateContext)
    const cl_context made = real(properties, count, devices, notify, user, code);
    size_t i = 0;
    pthread_mutex_lock(&lock);
    while (i < context_count && contexts[i].handle != made)
        i++;
    if (i == CONTEXTS) {
        fprintf(stderr, "the shim knows %d contexts at most\n", CONTEXTS);
        _Exit(3);
    }
    context_count += i == context_count;
    contexts[i].handle = made;
    contexts[i].is_lost = is_gone || is_thread_gone; /* on a device that never counts, no call asks */
    pthread_mutex_unlock(&lock);
    return made;
}

/* Whether the device is lost at this call. *out_one: it is one of several. Under the lock. */
static bool is_named(unsigned long call, bool *out_one)
{
    const char *at = getenv("CLF_TEST_GPU_LOSE");
    while (at && *at) {
        char *end;
        const unsigned long number = strtoul(at, &end, 10);
        if (end == at)
            break;
        is_gone |= *end == '-' && call >= number;
        *out_one = *end == '!';
        if (call == number)
            return true;
        end += *end == '!' || *end == '-';
        at = *end == ',' ? end + 1 : end;
    }
    return is_gone;
}

/* The code of CLF_TEST_GPU_LOSS; NULL: none is given. */
static const char *given_code(void)
{
    const char *loss = getenv("CLF_TEST_GPU_LOSS");
    return loss && *loss ? loss : NULL;
}

/* Whether calls on the queue's device count. The name is PoCL's, not that of the shown GPU. */
static bool is_on_device(cl_command_queue queue)
{
    const char *part = getenv("CLF_TEST_GPU_LOSE_ON");
    cl_device_id device = NULL;
    char name[256] = "";
    REAL(clGetDeviceInfo)
    return !part || (clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) == CL_SUCCESS &&
                     real(device, CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS && strstr(name, part));
}

cl_int shim_lost(cl_command_queue queue)
{
    const char *loss = given_code();
    cl_context own = NULL;
    bool is_lost = false;
    if (!is_on_device(queue) || clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof own, &own, NULL) != CL_SUCCESS)
        return CL_SUCCESS;
    pthread_mutex_lock(&lock);
    bool is_one = false;
    const bool loses = is_named(++calls, &is_one);
    is_thread_gone |= loses && is_one;
    for (size_t i = 0; i < context_count; i++) {
        contexts[i].is_lost |= loses && (!is_one || contexts[i].handle == own);
        is_lost |= contexts[i].handle == own && contexts[i].is_lost;
    }
    pthread_mutex_unlock(&lock);
    return !is_lost ? CL_SUCCESS : loss ? atoi(loss) : CL_OUT_OF_RESOURCES;
}

__attribute__((destructor)) static void tell_calls(void)
{
    const char *path = getenv("CLF_TEST_GPU_CALLS");
    FILE *file = path && calls ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%lu\n", calls);
        fclose(file);
    }
}

/* Work may run on PoCL before the loss is told, as on a device. */
EXPORT cl_int clFinish(cl_command_queue queue)
{
    REAL(clFinish)
    const cl_int code = real(queue);
    shim_note("finish");
    const cl_int lost = shim_lost(queue);
    return lost != CL_SUCCESS && !given_code() ? lost : code;
}

EXPORT cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *data,
                                  cl_uint count, const cl_event *wait, cl_event *event)
{
    REAL(clEnqueueReadBuffer)
    const cl_int lost = shim_lost(queue);
    return lost != CL_SUCCESS ? lost : real(queue, buffer, blocking, offset, size, data, count, wait, event);
}

EXPORT cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void *data,
                                   cl_uint count, const cl_event *wait, cl_event *event)
{
    REAL(clEnqueueWriteBuffer)
    const cl_int lost = shim_lost(queue);
    return lost != CL_SUCCESS ? lost : real(queue, buffer, blocking, offset, size, data, count, wait, event);
}

EXPORT cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size,
                                  cl_uint count, const cl_event *wait, cl_event *event)
{
    REAL(clEnqueueCopyBuffer)
    const cl_int lost = shim_lost(queue);
    return lost != CL_SUCCESS ? lost : real(queue, from, to, from_offset, to_offset, size, count, wait, event);
}
