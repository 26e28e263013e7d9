/* SPDX-License-Identifier: MIT */
/* Reference-counted device memory: creation within the device's limits, and blocking transfers. */
#include "runtime/buffer.h"

#include <stdint.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/shared.h"
#include "runtime/usage.h"

enum { SMALLEST_BUFFER = 64 };

static clf_status create(clf_context *context, clf_file_map *map, size_t size_bytes, clf_buffer **out)
{
    const size_t size = size_bytes ? size_bytes : SMALLEST_BUFFER;
    if (size > context->device.caps.max_allocation_bytes)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "buffer of %zu bytes: the device's largest allocation is %llu", size,
                 (unsigned long long)context->device.caps.max_allocation_bytes);
    clf_buffer *buffer;
    CLF_TRY(clfi_alloc(1, sizeof *buffer, "buffer", &buffer));
    cl_int code = CL_SUCCESS;
    buffer->memory = clCreateBuffer(context->opencl, map ? CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR : CL_MEM_READ_WRITE, size,
                                    map ? (void *)map->data : NULL, &code);
    if (code != CL_SUCCESS) {
        free(buffer);
        const bool is_full = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY;
        CLF_FAIL(is_full ? CLF_OUT_OF_MEMORY : CLF_DEVICE, "buffer of %zu bytes: clCreateBuffer: %s (%d)", size, clfi_cl_name(code), code);
    }
    buffer->context = context;
    buffer->size_bytes = size;
    atomic_init(&buffer->references, 1);
    context->usage.allocations++;
    clf_context_stats *stats = &context->stats;
    if (map) {
        buffer->map = clfi_file_map_retain(map);
        pthread_mutex_lock(&context->shared->lock);
        buffer->next_mapped = context->shared->mapped;
        context->shared->mapped = buffer;
        pthread_mutex_unlock(&context->shared->lock);
        stats->mapped_bytes += size;
    } else {
        stats->device_bytes += size;
        if (stats->device_bytes > stats->peak_device_bytes)
            stats->peak_device_bytes = stats->device_bytes;
    }
    clfi_usage_grown(context);
    clfi_context_retain(context);
    *out = buffer;
    return CLF_OK;
}

clf_status clfi_buffer_create(clf_context *context, size_t size_bytes, clf_buffer **out)
{
    return create(context, NULL, size_bytes, out);
}

clf_status clfi_buffer_wrap(clf_context *context, clf_file_map *map, clf_buffer **out)
{
    const clf_device_caps *caps = &context->device.caps;
    if (!caps->unified_memory)
        CLF_FAIL(CLF_UNSUPPORTED, "host memory in place: the device has memory of its own");
    if (!map->data || (uintptr_t)map->data % caps->base_alignment_bytes != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "host memory in place: not aligned to %llu bytes", (unsigned long long)caps->base_alignment_bytes);
    return create(context, map, map->size, out);
}

clf_buffer *clfi_buffer_retain(clf_buffer *buffer)
{
    atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
    return buffer;
}

/* A driver keeps its own memory until its commands are done, but knows nothing of ours: the queue ends first. Where it does not, or the
 * queue of another context on the same memory did not, the mapping stays, because lost memory is better than a kernel that reads where
 * nothing is. */
static void release_mapped(clf_buffer *buffer)
{
    clf_context *context = buffer->context;
    clf_shared *shared = context->shared;
    const bool is_idle = clfi_context_finish_queue(context) == CL_SUCCESS && !atomic_load(&shared->is_stuck);
    pthread_mutex_lock(&shared->lock);
    clf_buffer **link = &shared->mapped;
    while (*link != buffer)
        link = &(*link)->next_mapped;
    *link = buffer->next_mapped;
    if (is_idle && !shared->changed_file[0] && clfi_file_map_check(buffer->map) != CLF_OK)
        snprintf(shared->changed_file, sizeof shared->changed_file, "%s", clf_last_error());
    pthread_mutex_unlock(&shared->lock);
    clReleaseMemObject(buffer->memory);
    context->stats.mapped_bytes -= buffer->size_bytes;
    if (is_idle)
        clfi_file_map_release(buffer->map);
}

/* Whether the files in place, those of now and those of before, are what they were. */
static clf_status check_files(clf_shared *shared)
{
    clf_status st = CLF_OK;
    pthread_mutex_lock(&shared->lock);
    if (shared->changed_file[0])
        st = clfi_fail(CLF_IO, "%s", shared->changed_file);
    for (const clf_buffer *buffer = shared->mapped; st == CLF_OK && buffer; buffer = buffer->next_mapped)
        st = clfi_file_map_check(buffer->map);
    pthread_mutex_unlock(&shared->lock);
    return st;
}

void clfi_buffer_release(clf_buffer *buffer)
{
    if (!buffer || atomic_fetch_sub_explicit(&buffer->references, 1, memory_order_acq_rel) > 1)
        return;
    clf_context *context = buffer->context;
    if (buffer->map) {
        release_mapped(buffer);
    } else {
        clReleaseMemObject(buffer->memory); /* which the driver does when its commands are done */
        context->stats.device_bytes -= buffer->size_bytes;
    }
    free(buffer);
    clfi_context_release(context);
}

static clf_status check_range(const clf_buffer *buffer, const char *verb, size_t offset, size_t size)
{
    if (offset > buffer->size_bytes || size > buffer->size_bytes - offset)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: bytes [%zu, +%zu) leave a buffer of %zu bytes", verb, offset, size, buffer->size_bytes);
    return CLF_OK;
}

clf_status clfi_buffer_write(clf_buffer *buffer, size_t offset_bytes, const void *data, size_t size_bytes)
{
    CLF_TRY(check_range(buffer, "write", offset_bytes, size_bytes));
    if (size_bytes == 0 || buffer->context->rehearsal)
        return CLF_OK;
    CLF_TRY(clfi_context_interrupt(buffer->context));
    clf_context_stats *stats = &buffer->context->stats;
    const uint64_t start = clfi_now_ns();
    const cl_int code =
        clEnqueueWriteBuffer(buffer->context->queue, buffer->memory, CL_TRUE, offset_bytes, size_bytes, data, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "write %zu bytes to the device: clEnqueueWriteBuffer: %s (%d)", size_bytes, clfi_cl_name(code), code);
    stats->upload_ns += clfi_now_ns() - start;
    stats->upload_bytes += size_bytes;
    return CLF_OK;
}

clf_status clfi_buffer_read(clf_buffer *buffer, size_t offset_bytes, void *data, size_t size_bytes)
{
    CLF_TRY(check_range(buffer, "read", offset_bytes, size_bytes));
    if (size_bytes == 0 || buffer->context->rehearsal)
        return CLF_OK;
    CLF_TRY(clf_context_finish(buffer->context)); /* so that waiting for kernels does not count as reading */
    CLF_TRY(check_files(buffer->context->shared));
    clf_context_stats *stats = &buffer->context->stats;
    const uint64_t start = clfi_now_ns();
    const cl_int code = clEnqueueReadBuffer(buffer->context->queue, buffer->memory, CL_TRUE, offset_bytes, size_bytes, data, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "read %zu bytes from the device: clEnqueueReadBuffer: %s (%d)", size_bytes, clfi_cl_name(code), code);
    stats->readback_ns += clfi_now_ns() - start;
    stats->readback_bytes += size_bytes;
    return CLF_OK;
}
