/* SPDX-License-Identifier: MIT */
/* Reference-counted device memory: creation within the device's limits, and blocking transfers. */
#include "runtime/buffer.h"

#include <stdint.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/huge_pages.h"
#include "runtime/shared.h"
#include "runtime/usage.h"

enum { SMALLEST_BUFFER = 64, SMALLEST_LASTING = 32 << 10 };

static clf_status check_size(const clf_context *context, size_t size)
{
    if (size > context->device.caps.max_allocation_bytes)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "buffer of %zu bytes: the device's largest allocation is %llu", size,
                 (unsigned long long)context->device.caps.max_allocation_bytes);
    return CLF_OK;
}

static clf_status fail_creation(const clf_context *context, size_t size, const char *call, cl_int code)
{
    const bool is_full = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY;
    return clfi_context_fail(context, code, is_full ? CLF_OUT_OF_MEMORY : CLF_DEVICE, "buffer of %zu bytes: %s", size, call);
}

/* Creates a buffer in the device's own memory, or with CL_MEM_USE_HOST_PTR on host memory. */
static clf_status create(clf_context *context, cl_mem_flags flags, void *host, size_t size, clf_buffer **out)
{
    CLF_TRY(check_size(context, size));
    clf_buffer *buffer;
    CLF_TRY(clfi_alloc(1, sizeof *buffer, "buffer", &buffer));
    cl_int code = CL_SUCCESS;
    buffer->memory = clCreateBuffer(context->opencl, flags, size, host, &code);
    if (code != CL_SUCCESS) {
        free(buffer);
        return fail_creation(context, size, "clCreateBuffer", code);
    }
    buffer->context = context;
    buffer->opening = context->openings;
    buffer->size_bytes = size;
    atomic_init(&buffer->references, 1);
    context->usage.allocations++;
    clfi_context_retain(context);
    *out = buffer;
    return CLF_OK;
}

static void count_device_bytes(clf_context *context, size_t size)
{
    clf_context_stats *stats = &context->stats;
    stats->device_bytes += size;
    if (stats->device_bytes > stats->peak_device_bytes)
        stats->peak_device_bytes = stats->device_bytes;
    clfi_usage_grown(context);
}

clf_status clfi_buffer_create(clf_context *context, size_t size_bytes, clf_buffer **out)
{
    CLF_TRY(create(context, CL_MEM_READ_WRITE, NULL, size_bytes ? size_bytes : SMALLEST_BUFFER, out));
    count_device_bytes(context, (*out)->size_bytes);
    return CLF_OK;
}

/* The driver calls this when it no longer uses a buffer's host memory. */
static void CL_CALLBACK release_pages(cl_mem memory, void *chunk)
{
    (void)memory;
    clfi_page_chunk_release(chunk);
}

clf_status clfi_buffer_create_lasting(clf_context *context, size_t size_bytes, clf_buffer **out)
{
    clf_page_chunk *chunk;
    clf_buffer *buffer;
    void *host;
    if (!context->device.caps.uses_host_memory || size_bytes < SMALLEST_LASTING)
        return clfi_buffer_create(context, size_bytes, out);
    CLF_TRY(check_size(context, size_bytes));
    CLF_TRY(clfi_page_chunk_take(context, size_bytes, &chunk, &host));
    const clf_status st = create(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, host, size_bytes, &buffer);
    if (st != CLF_OK) {
        clfi_page_chunk_release(chunk);
        return st;
    }
    count_device_bytes(context, size_bytes);
    const cl_int code = clSetMemObjectDestructorCallback(buffer->memory, release_pages, chunk);
    if (code != CL_SUCCESS) {
        clfi_buffer_release(buffer); /* frees it at once: no command has used it yet */
        clfi_page_chunk_release(chunk);
        return fail_creation(context, size_bytes, "clSetMemObjectDestructorCallback", code);
    }
    *out = buffer;
    return CLF_OK;
}

clf_status clfi_buffer_wrap(clf_context *context, clf_file_map *map, clf_buffer **out)
{
    const clf_device_caps *caps = &context->device.caps;
    if (!caps->unified_memory)
        CLF_FAIL(CLF_UNSUPPORTED, "host memory in place: the device has memory of its own");
    if (caps->blocks_signals) /* see base/file_map.h */
        CLF_FAIL(CLF_UNSUPPORTED, "host memory in place: truncating the file during use would end the program");
    if (!map->data || (uintptr_t)map->data % caps->base_alignment_bytes != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "host memory in place: not aligned to %llu bytes", (unsigned long long)caps->base_alignment_bytes);
    clf_buffer *buffer;
    CLF_TRY(create(context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, (void *)map->data, map->size, &buffer));
    buffer->map = clfi_file_map_retain(map);
    pthread_mutex_lock(&context->shared->lock);
    buffer->next_mapped = context->shared->mapped;
    context->shared->mapped = buffer;
    pthread_mutex_unlock(&context->shared->lock);
    context->stats.mapped_bytes += buffer->size_bytes;
    clfi_usage_grown(context);
    *out = buffer;
    return CLF_OK;
}

clf_buffer *clfi_buffer_retain(clf_buffer *buffer)
{
    atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
    return buffer;
}

/* The driver does not keep the mapping alive for queued commands, so the queue must finish before the file is unmapped. If
 * this queue, or the queue of another context on the same memory, does not finish, the mapping stays: a leak is better than a kernel that
 * reads unmapped memory. */
static void release_mapped(clf_buffer *buffer)
{
    clf_context *context = buffer->context;
    clf_shared *shared = context->shared;
    const bool is_idle =
        buffer->opening == context->openings && clfi_context_finish_queue(context) == CL_SUCCESS && !atomic_load(&shared->is_stuck);
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

/* Fails if a file that is or was used in place has changed. */
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
        clReleaseMemObject(buffer->memory); /* the driver frees it when its commands are done */
        context->stats.device_bytes -= buffer->size_bytes;
    }
    free(buffer);
    clfi_context_release(context);
}

static clf_status check_range(const clf_buffer *buffer, const char *verb, size_t offset, size_t size)
{
    if (offset > buffer->size_bytes || size > buffer->size_bytes - offset)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: bytes [%zu, +%zu) are outside a buffer of %zu bytes", verb, offset, size, buffer->size_bytes);
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
        return clfi_context_fail(buffer->context, code, CLF_DEVICE, "write %zu bytes to the device: clEnqueueWriteBuffer", size_bytes);
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
        return clfi_context_fail(buffer->context, code, CLF_DEVICE, "read %zu bytes from the device: clEnqueueReadBuffer", size_bytes);
    stats->readback_ns += clfi_now_ns() - start;
    stats->readback_bytes += size_bytes;
    return CLF_OK;
}
