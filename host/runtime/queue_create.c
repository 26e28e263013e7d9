/* SPDX-License-Identifier: MIT */
/* Creates queues, with hints of low priority for contexts in the background. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "runtime/queue_create.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Properties of OpenCL 2.0, which older headers do not name. */
enum { QUEUE_PROPERTIES = 0x1093, QUEUE_PRIORITY = 0x1096, QUEUE_THROTTLE = 0x1097, LOW = 1 << 2 };

typedef cl_command_queue(CL_API_CALL *create_function)(cl_context, cl_device_id, const cl_ulong *, cl_int *);

bool clfi_background_is_set(void)
{
    const char *text = getenv("CLF_BACKGROUND");
    return text && text[0] && strcmp(text, "0") != 0;
}

/* The loader's function of OpenCL 2.0; NULL: the loader is older. */
static create_function find_function(void)
{
    create_function function = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "clCreateCommandQueueWithProperties");
    memcpy(&function, &symbol, sizeof function); /* POSIX lets an object pointer hold a function's */
    return function;
}

/* Creates a queue with the hints that the device has. NULL: it has none, or the driver refused them. */
static cl_command_queue create_with_hints(const clf_context *context, cl_context opencl, cl_command_queue_properties properties)
{
    const clf_device_caps *caps = &context->device.caps;
    const create_function function = find_function();
    cl_ulong list[7] = {QUEUE_PROPERTIES, properties};
    cl_int code = CL_SUCCESS;
    size_t count = 2;
    if (!function || !(caps->has_priority_hints || caps->has_throttle_hints))
        return NULL;
    if (caps->has_priority_hints) {
        list[count++] = QUEUE_PRIORITY;
        list[count++] = LOW;
    }
    if (caps->has_throttle_hints) {
        list[count++] = QUEUE_THROTTLE;
        list[count++] = LOW;
    }
    const cl_command_queue queue = function(opencl, context->device.id, list, &code);
    if (code == CL_SUCCESS)
        return queue;
    clfi_log(context, CLF_LOG_INFO, "queue in the background: clCreateCommandQueueWithProperties: %s (%d); it has the usual priority",
             clfi_cl_name(code), code);
    return NULL;
}

clf_status clfi_queue_create(const clf_context *context, cl_context opencl, cl_command_queue *out)
{
    const cl_command_queue_properties properties = context->profile ? CL_QUEUE_PROFILING_ENABLE : 0;
    cl_int code = CL_SUCCESS;
    *out = context->is_background ? create_with_hints(context, opencl, properties) : NULL;
    if (!*out)
        *out = clCreateCommandQueue(opencl, context->device.id, properties, &code);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "queue on %s: clCreateCommandQueue: %s (%d)", context->device.info.name, clfi_cl_name(code), code);
    return CLF_OK;
}
