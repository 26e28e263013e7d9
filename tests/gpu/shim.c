/* SPDX-License-Identifier: MIT */
/* Loaded with LD_PRELOAD: shows PoCL as the GPU that CLF_TEST_GPU names (shown_devices.h), and holds programs to that GPU's limits: what it
 * would refuse is refused here, with the code that OpenCL has for it. Kernels run on PoCL, so results are real, unless
 * CLF_TEST_GPU_IDLE=1 leaves them out: then launches can be counted at sizes that would take minutes. With CLF_TEST_GPU_LOG=FILE every
 * launch, every refusal and the parameters of every program of CLBlast's are appended to FILE, a line each:
 *
 *     launch KERNEL GLOBAL0 GLOBAL1 GLOBAL2 LOCAL0 LOCAL1 LOCAL2 LOCAL_BYTES MS   program KERNEL_OPTIONS
 *     refused WHAT ...                                                           clblast NAME=VALUE NAME=VALUE ...
 *     queue [priority=N] [throttle=N]                                            finish      flush
 *
 * MS: milliseconds that this GPU would take at least (shim_work.h; -1: the shim does not know the kernel). With CLF_TEST_GPU_BUDGET_MS,
 * launches that would take more than twice as long are refused, as if its kernel driver had reset it. CLF_TEST_GPU_LOSE loses the device
 * (shim_lost.h). CLF_TEST_GPU_SMALL=KERNEL allows work-groups of this kernel 32 items at most, as if it took too many registers for
 * more. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <CL/cl.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim_lost.h"
#include "shim_work.h"
#include "shown_devices.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { /* questions of extensions */
       BOARD_NAME_AMD = 0x4038,
       WAVEFRONT_WIDTH_AMD = 0x4043,
       COMPUTE_CAPABILITY_MAJOR_NV = 0x4000,
       COMPUTE_CAPABILITY_MINOR_NV = 0x4001,
       WARP_SIZE_NV = 0x4003,
       SUB_GROUP_SIZES_INTEL = 0x4108
};

enum { SMALL_GROUP = 32 /* items of CLF_TEST_GPU_SMALL */ };

static const shown_device *shown(void)
{
    const char *key = getenv("CLF_TEST_GPU");
    for (size_t i = 0; key && i < COUNT(shown_devices); i++)
        if (strcmp(shown_devices[i].key, key) == 0)
            return &shown_devices[i];
    fprintf(stderr, "CLF_TEST_GPU=%s names no device of the shim\n", key ? key : "");
    _exit(3);
}

/* One write per line, so that threads and processes do not mix theirs. */
void shim_note(const char *format, ...)
{
    char line[4096];
    const char *path = getenv("CLF_TEST_GPU_LOG");
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file < 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    length = length < (int)sizeof line - 2 ? length : (int)sizeof line - 2;
    line[length++] = '\n';
    if (write(file, line, (size_t)length) != length)
        fprintf(stderr, "%s: not written\n", path);
    close(file);
}

static cl_int answer(const void *content, size_t length, size_t size, void *value, size_t *needed)
{
    if (needed)
        *needed = length;
    if (value && size < length)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, content, length);
    return CL_SUCCESS;
}

/* --- what the device says of itself ----------------------------------------------------------------------------------------------- */

static cl_int answer_number(cl_ulong number, size_t length, size_t size, void *value, size_t *needed)
{
    return answer(&number, length, size, value, needed); /* little-endian */
}

#define TEXT(text) return answer(text, strlen(text) + 1, size, value, needed)
#define NUMBER(type, number) return answer_number(number, sizeof(type), size, value, needed)

/* Answers a query of one vendor's extension; any other vendor's driver gives CL_INVALID_VALUE. */
static cl_int answer_vendor(const shown_device *d, cl_device_info what, size_t size, void *value, size_t *needed)
{
    const size_t waves[] = {8, 16, 32};
    switch (what) {
    case BOARD_NAME_AMD:
        if (d->board)
            TEXT(d->board);
        break;
    case WAVEFRONT_WIDTH_AMD:
        if (d->board)
            NUMBER(cl_uint, d->wave);
        break;
    case COMPUTE_CAPABILITY_MAJOR_NV:
    case COMPUTE_CAPABILITY_MINOR_NV:
        if (d->compute_capability[0])
            NUMBER(cl_uint, d->compute_capability[what == COMPUTE_CAPABILITY_MINOR_NV]);
        break;
    case WARP_SIZE_NV:
        if (d->compute_capability[0])
            NUMBER(cl_uint, d->wave);
        break;
    case SUB_GROUP_SIZES_INTEL:
        if (strstr(d->extensions, "cl_intel_required_subgroup_size"))
            return answer(waves, sizeof waves, size, value, needed);
        break;
    default:
        break;
    }
    return CL_INVALID_VALUE;
}

EXPORT cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *needed)
{
    const shown_device *d = shown();
    const size_t items[3] = {d->group_size, d->group_size, d->group_size};
    REAL(clGetDeviceInfo)
    switch (what) {
    case CL_DEVICE_TYPE:
        NUMBER(cl_device_type, CL_DEVICE_TYPE_GPU);
    case CL_DEVICE_NAME:
        TEXT(d->name);
    case CL_DEVICE_VENDOR:
        TEXT(d->vendor);
    case CL_DEVICE_EXTENSIONS:
        TEXT(d->extensions);
    case CL_DEVICE_VENDOR_ID:
        NUMBER(cl_uint, d->vendor_id);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        NUMBER(cl_uint, d->compute_units);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        NUMBER(cl_uint, d->clock_mhz);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        NUMBER(cl_ulong, d->global_bytes);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        NUMBER(cl_ulong, d->largest_bytes);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        NUMBER(cl_ulong, d->local_bytes);
    case CL_DEVICE_LOCAL_MEM_TYPE:
        NUMBER(cl_device_local_mem_type, CL_LOCAL);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        NUMBER(size_t, d->group_size);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return answer(items, sizeof items, size, value, needed);
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
        NUMBER(cl_uint, d->vector_width);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        NUMBER(cl_uint, d->alignment_bits);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        NUMBER(cl_bool, d->unified);
    default:
        break;
    }
    return what >= COMPUTE_CAPABILITY_MAJOR_NV && what <= SUB_GROUP_SIZES_INTEL ? answer_vendor(d, what, size, value, needed)
                                                                                : real(device, what, size, value, needed);
}

EXPORT cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id *devices, cl_uint *found)
{
    REAL(clGetDeviceIDs)
    if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)))
        return CL_DEVICE_NOT_FOUND;
    return real(platform, CL_DEVICE_TYPE_ALL, count, devices, found);
}

/* --- queues ----------------------------------------------------------------------------------------------------------------------- */

EXPORT cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *code)
{
    REAL(clCreateCommandQueue)
    shim_note("queue");
    return real(context, device, properties, code);
}

/* Takes hints of the extensions that the device shows, and refuses others, as drivers do. The real queue has none. OpenCL 2.0's function,
 * which headers for OpenCL 1.2 do not declare. */
EXPORT cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device, const cl_ulong *properties,
                                                           cl_int *code);
EXPORT cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device, const cl_ulong *properties,
                                                           cl_int *code)
{
    static const struct {
        cl_ulong property;
        const char *extension, *name;
    } hints[] = {{0x1096, "cl_khr_priority_hints", "priority"}, {0x1097, "cl_khr_throttle_hints", "throttle"}};
    cl_command_queue_properties kept = 0;
    char line[64] = "";
    REAL(clCreateCommandQueue)
    for (; properties && properties[0]; properties += 2) {
        size_t i = 0;
        while (i < COUNT(hints) && hints[i].property != properties[0])
            i++;
        if (properties[0] == CL_QUEUE_PROPERTIES) {
            kept = properties[1];
        } else if (i == COUNT(hints) || !strstr(shown()->extensions, hints[i].extension)) {
            shim_note("refused queue with property %llu", (unsigned long long)properties[0]);
            if (code)
                *code = CL_INVALID_QUEUE_PROPERTIES;
            return NULL;
        } else {
            snprintf(line + strlen(line), sizeof line - strlen(line), " %s=%llu", hints[i].name, (unsigned long long)properties[1]);
        }
    }
    shim_note("queue%s", line);
    return real(context, device, kept, code);
}

EXPORT cl_int clFlush(cl_command_queue queue)
{
    REAL(clFlush)
    shim_note("flush");
    return real(queue);
}

/* --- programs --------------------------------------------------------------------------------------------------------------------- */

/* CLBlast's parameters stand in front of its sources, "#define MWG 64" each. */
static void note_clblast(const char *source)
{
    char line[2048] = "";
    size_t used = 0;
    if (strncmp(source, "#define PRECISION", 17) != 0 && !strstr(source, "\n#define PRECISION"))
        return;
    for (const char *at = strstr(source, "#define "); at; at = strstr(at + 1, "\n#define ")) {
        char name[64], text[16];
        const char *word = at + (*at == '\n') + strlen("#define ");
        if (sscanf(word, "%63[A-Z_] %15[0-9]", name, text) == 2 && used + 96 < sizeof line)
            used += (size_t)snprintf(line + used, sizeof line - used, " %s=%s", name, text);
    }
    shim_note("clblast%s", line);
}

EXPORT cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts, const size_t *lengths, cl_int *code)
{
    REAL(clCreateProgramWithSource)
    for (cl_uint i = 0; i < count; i++)
        if (!lengths || lengths[i] == 0)
            note_clblast(texts[i]);
        else {
            char *copy = strndup(texts[i], lengths[i]);
            if (copy)
                note_clblast(copy);
            free(copy);
        }
    return real(context, count, texts, lengths, code);
}

EXPORT cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *done)(cl_program, void *), void *user)
{
    REAL(clBuildProgram)
    if (options && options[0])
        shim_note("program %s", options);
    return real(program, count, devices, options, done, user);
}

/* CLBlast asks for the binary of each program that it builds, and uses it in another context of the process alone. PoCL would compile all
 * of the program's kernels for it, so CLBlast gets one byte; a context that built from it would fail. */
EXPORT cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t size, void *value, size_t *needed)
{
    Dl_info caller;
    REAL(clGetProgramInfo)
    if (dladdr(__builtin_return_address(0), &caller) && caller.dli_fname && strstr(caller.dli_fname, "libclblast")) {
        if (what == CL_PROGRAM_BINARY_SIZES)
            NUMBER(size_t, 1);
        if (what == CL_PROGRAM_BINARIES)
            return CL_SUCCESS;
    }
    return real(program, what, size, value, needed);
}

/* The largest work-group of this kernel. */
static size_t items_of(cl_kernel kernel, const shown_device *d)
{
    const char *small = getenv("CLF_TEST_GPU_SMALL");
    char name[128] = "";
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    return small && strcmp(small, name) == 0 ? SMALL_GROUP : d->group_size;
}

EXPORT cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size, void *value,
                                       size_t *needed)
{
    const shown_device *d = shown();
    REAL(clGetKernelWorkGroupInfo)
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        NUMBER(size_t, items_of(kernel, d));
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        NUMBER(size_t, d->wave);
    default:
        return real(kernel, device, what, size, value, needed);
    }
}

/* --- memory ----------------------------------------------------------------------------------------------------------------------- */

static _Atomic uint64_t allocated;

static void CL_CALLBACK gone(cl_mem memory, void *bytes)
{
    (void)memory;
    atomic_fetch_sub(&allocated, (uint64_t)(uintptr_t)bytes);
}

EXPORT cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    const shown_device *d = shown();
    cl_int refused = CL_SUCCESS;
    REAL(clCreateBuffer)
    if (size > d->largest_bytes)
        refused = CL_INVALID_BUFFER_SIZE;
    else if (atomic_load(&allocated) + size > d->global_bytes)
        refused = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (refused != CL_SUCCESS) {
        shim_note("refused buffer of %zu bytes: %llu are allocated", size, (unsigned long long)atomic_load(&allocated));
        if (code)
            *code = refused;
        return NULL;
    }
    const cl_mem memory = real(context, flags, size, host, code);
    if (memory && clSetMemObjectDestructorCallback(memory, gone, (void *)(uintptr_t)size) == CL_SUCCESS)
        atomic_fetch_add(&allocated, size);
    return memory;
}

/* --- launches --------------------------------------------------------------------------------------------------------------------- */

/* The error that this device's driver would return for a launch; CL_SUCCESS: none. */
static cl_int judge(const shown_device *d, cl_kernel kernel, cl_uint rank, const size_t *global, const size_t *local, cl_ulong local_bytes)
{
    size_t items = 1;
    for (cl_uint i = 0; local && i < rank; i++) {
        if (local[i] == 0 || global[i] % local[i] != 0)
            return CL_INVALID_WORK_GROUP_SIZE;
        if (local[i] > d->group_size)
            return CL_INVALID_WORK_ITEM_SIZE;
        items *= local[i];
    }
    if (items > d->group_size)
        return CL_INVALID_WORK_GROUP_SIZE;
    return items > items_of(kernel, d) || local_bytes > d->local_bytes ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

EXPORT cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    REAL(clSetKernelArg)
    shim_work_argument(kernel, index, size, value);
    return real(kernel, index, size, value);
}

/* The kernels that measure the device take as long as they would there, since nothing else is run. */
static void wait_for_rate(const char *name, double ms)
{
    if (strncmp(name, "rate_", 5) == 0)
        usleep((useconds_t)(ms * 1e3));
}

EXPORT cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint rank, const size_t *offset, const size_t *global,
                                     const size_t *local, cl_uint wait_count, const cl_event *wait, cl_event *event)
{
    const shown_device *d = shown();
    char name[128] = "?";
    cl_device_id device = NULL;
    cl_ulong local_bytes = 0;
    size_t g[3] = {1, 1, 1}, l[3] = {0, 0, 0};
    REAL(clEnqueueNDRangeKernel)
    const cl_int lost = shim_lost(queue);
    if (lost != CL_SUCCESS)
        return lost;
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes, NULL);
    for (cl_uint i = 0; i < rank && i < 3; i++) {
        g[i] = global[i];
        l[i] = local ? local[i] : 0;
    }
    const double ms = shim_work_ms(d, device, kernel, name, g, l);
    const char *budget = getenv("CLF_TEST_GPU_BUDGET_MS");
    cl_int refused = judge(d, kernel, rank, global, local, local_bytes);
    if (refused == CL_SUCCESS && budget && ms > 2 * strtod(budget, NULL))
        refused = CL_OUT_OF_RESOURCES;
    shim_note("%s %s %zu %zu %zu %zu %zu %zu %llu %.6f", refused == CL_SUCCESS ? "launch" : "refused", name, g[0], g[1], g[2], l[0], l[1],
              l[2], (unsigned long long)local_bytes, ms);
    if (refused != CL_SUCCESS)
        return refused;
    if (getenv("CLF_TEST_GPU_IDLE")) {
        wait_for_rate(name, ms);
        return clEnqueueMarkerWithWaitList(queue, wait_count, wait, event);
    }
    return real(queue, kernel, rank, offset, global, local, wait_count, wait, event);
}
