/* SPDX-License-Identifier: MIT */
/* OpenCL's entry points: a call that fails returns CL_OUT_OF_RESOURCES and does nothing, except that releases are done: a driver that
 * refuses one leaves nobody anything to do. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

#define STRIKES shim_strikes(SHIM_OPENCL, SHIM_CALLER, __func__, NULL)

/* A program's callback for the end of a buffer. Drivers call it from threads of their own, also after the program's last call. */
typedef struct destructor {
    void(CL_CALLBACK *done)(cl_mem, void *);
    void *data;
} destructor;

static destructor destructors[1 << 16];
static atomic_size_t destructors_expected, destructors_called;

static destructor *expect_destructor(void(CL_CALLBACK *done)(cl_mem, void *), void *data)
{
    destructor *d = &destructors[atomic_fetch_add(&destructors_expected, 1) % (sizeof destructors / sizeof *destructors)];
    *d = (destructor){done, data};
    return d;
}

static void CL_CALLBACK call_destructor(cl_mem it, void *data)
{
    const destructor *d = data;
    d->done(it, d->data);
    atomic_fetch_add(&destructors_called, 1);
}

void shim_destructors_wait(void)
{
    enum { TRIES = 1000 };
    const struct timespec millisecond = {.tv_nsec = 1000000};
    for (int i = 0; i < TRIES && atomic_load(&destructors_called) < atomic_load(&destructors_expected); i++)
        syscall(SYS_nanosleep, &millisecond, NULL);
}

/* A call that returns a status. */
#define STATUS(name, parameters, arguments)                    \
    cl_int name parameters                                     \
    {                                                          \
        SHIM_REAL(name);                                       \
        return STRIKES ? CL_OUT_OF_RESOURCES : real arguments; \
    }

/* One that makes an object; its last argument says why not. */
#define CREATE(type, kind, name, parameters, arguments) \
    type name parameters                                \
    {                                                   \
        SHIM_REAL(name);                                \
        if (STRIKES) {                                  \
            if (code)                                   \
                *code = CL_OUT_OF_RESOURCES;            \
            return NULL;                                \
        }                                               \
        type made = real arguments;                     \
        shim_object_retain(kind, made);                 \
        return made;                                    \
    }

#define REFERENCES(type, kind, object)                 \
    cl_int clRetain##object(type it)                   \
    {                                                  \
        SHIM_REAL(clRetain##object);                   \
        if (STRIKES)                                   \
            return CL_OUT_OF_RESOURCES;                \
        shim_object_retain(kind, it);                  \
        return real(it);                               \
    }                                                  \
    cl_int clRelease##object(type it)                  \
    {                                                  \
        SHIM_REAL(clRelease##object);                  \
        const bool strikes = STRIKES;                  \
        shim_object_release(kind, it);                 \
        const cl_int status = real(it);                \
        return strikes ? CL_OUT_OF_RESOURCES : status; \
    }

/* One that enqueues and may hand out an event. */
#define ENQUEUE(name, parameters, arguments)        \
    cl_int name parameters                          \
    {                                               \
        SHIM_REAL(name);                            \
        if (STRIKES)                                \
            return CL_OUT_OF_RESOURCES;             \
        const cl_int status = real arguments;       \
        if (status == CL_SUCCESS && event)          \
            shim_object_retain(SHIM_EVENT, *event); \
        return status;                              \
    }

#define WAIT_LIST cl_uint waits, const cl_event *wait, cl_event *event
#define INFO cl_uint name, size_t size, void *value, size_t *needed

STATUS(clGetPlatformIDs, (cl_uint room, cl_platform_id *out, cl_uint *count), (room, out, count))
STATUS(clGetPlatformInfo, (cl_platform_id it, INFO), (it, name, size, value, needed))
STATUS(clGetDeviceIDs, (cl_platform_id it, cl_device_type type, cl_uint room, cl_device_id *out, cl_uint *count),
       (it, type, room, out, count))
STATUS(clGetDeviceInfo, (cl_device_id it, INFO), (it, name, size, value, needed))
STATUS(clGetContextInfo, (cl_context it, INFO), (it, name, size, value, needed))
STATUS(clGetCommandQueueInfo, (cl_command_queue it, INFO), (it, name, size, value, needed))
STATUS(clGetMemObjectInfo, (cl_mem it, INFO), (it, name, size, value, needed))
STATUS(clGetProgramInfo, (cl_program it, INFO), (it, name, size, value, needed))
STATUS(clGetProgramBuildInfo, (cl_program it, cl_device_id device, INFO), (it, device, name, size, value, needed))
STATUS(clGetKernelInfo, (cl_kernel it, INFO), (it, name, size, value, needed))
STATUS(clGetKernelArgInfo, (cl_kernel it, cl_uint index, INFO), (it, index, name, size, value, needed))
STATUS(clGetKernelWorkGroupInfo, (cl_kernel it, cl_device_id device, INFO), (it, device, name, size, value, needed))
STATUS(clGetEventInfo, (cl_event it, INFO), (it, name, size, value, needed))
STATUS(clGetEventProfilingInfo, (cl_event it, INFO), (it, name, size, value, needed))
STATUS(clBuildProgram,
       (cl_program it, cl_uint count, const cl_device_id *devices, const char *options, void(CL_CALLBACK *done)(cl_program, void *),
        void *data),
       (it, count, devices, options, done, data))
STATUS(clCompileProgram,
       (cl_program it, cl_uint count, const cl_device_id *devices, const char *options, cl_uint headers, const cl_program *texts,
        const char **names, void(CL_CALLBACK *done)(cl_program, void *), void *data),
       (it, count, devices, options, headers, texts, names, done, data))
STATUS(clSetKernelArg, (cl_kernel it, cl_uint index, size_t size, const void *value), (it, index, size, value))
STATUS(clSetEventCallback, (cl_event it, cl_int type, void(CL_CALLBACK *done)(cl_event, cl_int, void *), void *data),
       (it, type, done, data))
STATUS(clSetMemObjectDestructorCallback, (cl_mem it, void(CL_CALLBACK *done)(cl_mem, void *), void *data),
       (it, call_destructor, expect_destructor(done, data)))
STATUS(clSetUserEventStatus, (cl_event it, cl_int status), (it, status))
STATUS(clWaitForEvents, (cl_uint count, const cl_event *events), (count, events))
STATUS(clFlush, (cl_command_queue it), (it))
STATUS(clFinish, (cl_command_queue it), (it))

CREATE(cl_context, SHIM_CONTEXT, clCreateContext,
       (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
        void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *code),
       (properties, count, devices, notify, data, code))
CREATE(cl_command_queue, SHIM_QUEUE, clCreateCommandQueue,
       (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *code), (context, device, properties, code))
CREATE(cl_mem, SHIM_BUFFER, clCreateBuffer, (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code),
       (context, flags, size, host, code))
CREATE(cl_mem, SHIM_BUFFER, clCreateSubBuffer,
       (cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type, const void *info, cl_int *code), (whole, flags, type, info, code))
CREATE(cl_program, SHIM_PROGRAM, clCreateProgramWithSource,
       (cl_context context, cl_uint count, const char **texts, const size_t *sizes, cl_int *code), (context, count, texts, sizes, code))
CREATE(cl_program, SHIM_PROGRAM, clCreateProgramWithBinary,
       (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *sizes, const unsigned char **binaries, cl_int *status,
        cl_int *code),
       (context, count, devices, sizes, binaries, status, code))
CREATE(cl_program, SHIM_PROGRAM, clLinkProgram,
       (cl_context context, cl_uint count, const cl_device_id *devices, const char *options, cl_uint parts, const cl_program *programs,
        void(CL_CALLBACK *done)(cl_program, void *), void *data, cl_int *code),
       (context, count, devices, options, parts, programs, done, data, code))
CREATE(cl_kernel, SHIM_KERNEL, clCreateKernel, (cl_program program, const char *name, cl_int *code), (program, name, code))
CREATE(cl_event, SHIM_EVENT, clCreateUserEvent, (cl_context context, cl_int *code), (context, code))

REFERENCES(cl_context, SHIM_CONTEXT, Context)
REFERENCES(cl_command_queue, SHIM_QUEUE, CommandQueue)
REFERENCES(cl_mem, SHIM_BUFFER, MemObject)
REFERENCES(cl_program, SHIM_PROGRAM, Program)
REFERENCES(cl_kernel, SHIM_KERNEL, Kernel)
REFERENCES(cl_event, SHIM_EVENT, Event)

ENQUEUE(clEnqueueNDRangeKernel,
        (cl_command_queue queue, cl_kernel kernel, cl_uint rank, const size_t *offset, const size_t *global, const size_t *local,
         WAIT_LIST),
        (queue, kernel, rank, offset, global, local, waits, wait, event))
ENQUEUE(clEnqueueReadBuffer, (cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset, size_t size, void *data, WAIT_LIST),
        (queue, buffer, blocks, offset, size, data, waits, wait, event))
ENQUEUE(clEnqueueWriteBuffer,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset, size_t size, const void *data, WAIT_LIST),
        (queue, buffer, blocks, offset, size, data, waits, wait, event))
ENQUEUE(clEnqueueCopyBuffer, (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size, WAIT_LIST),
        (queue, from, to, from_offset, to_offset, size, waits, wait, event))
ENQUEUE(clEnqueueFillBuffer,
        (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size, size_t offset, size_t size, WAIT_LIST),
        (queue, buffer, pattern, pattern_size, offset, size, waits, wait, event))
ENQUEUE(clEnqueueUnmapMemObject, (cl_command_queue queue, cl_mem buffer, void *data, WAIT_LIST), (queue, buffer, data, waits, wait, event))
ENQUEUE(clEnqueueMarkerWithWaitList, (cl_command_queue queue, WAIT_LIST), (queue, waits, wait, event))
ENQUEUE(clEnqueueBarrierWithWaitList, (cl_command_queue queue, WAIT_LIST), (queue, waits, wait, event))

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks, cl_map_flags flags, size_t offset, size_t size, WAIT_LIST,
                         cl_int *code)
{
    SHIM_REAL(clEnqueueMapBuffer);
    if (STRIKES) {
        if (code)
            *code = CL_OUT_OF_RESOURCES;
        return NULL;
    }
    void *data = real(queue, buffer, blocks, flags, offset, size, waits, wait, event, code);
    if (data && event)
        shim_object_retain(SHIM_EVENT, *event);
    return data;
}
