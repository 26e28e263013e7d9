/* SPDX-License-Identifier: MIT */
/* Collects kernel events and host phases of a profiling context. */
#include "runtime/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"

typedef struct pending {
    const char *name;
    cl_event event;
    uint64_t enqueued_ns; /* host clock */
} pending;

typedef struct span {
    const char *name;
    uint64_t start_ns, end_ns; /* host clock */
    bool on_device;
} span;

struct clf_profile {
    pending *pending;
    size_t pending_count, pending_capacity;
    span *spans;
    size_t span_count, span_capacity;
    clf_kernel_stats *totals;
    size_t total_count, total_capacity;
    uint64_t origin_ns;
    int64_t device_offset_ns; /* device clock + offset = host clock */
    bool has_offset;
};

clf_status clfi_profile_create(clf_profile **out)
{
    CLF_TRY(clfi_alloc(1, sizeof **out, "profile", out));
    (*out)->origin_ns = clfi_now_ns();
    return CLF_OK;
}

void clfi_profile_destroy(clf_profile *profile)
{
    if (!profile)
        return;
    for (size_t i = 0; i < profile->pending_count; i++)
        clReleaseEvent(profile->pending[i].event);
    free(profile->pending);
    free(profile->spans);
    free(profile->totals);
    free(profile);
}

clf_status clfi_profile_kernel(clf_profile *profile, const char *name, cl_event event)
{
    const clf_status st = clfi_grow(&profile->pending, &profile->pending_capacity, profile->pending_count + 1, sizeof(pending),
                                    "profile events");
    if (st != CLF_OK) {
        clReleaseEvent(event);
        return st;
    }
    profile->pending[profile->pending_count++] = (pending){name, event, clfi_now_ns()};
    return CLF_OK;
}

static void add_span(clf_profile *profile, const char *name, uint64_t start, uint64_t end, bool on_device)
{
    if (clfi_grow(&profile->spans, &profile->span_capacity, profile->span_count + 1, sizeof(span), "profile spans") == CLF_OK)
        profile->spans[profile->span_count++] = (span){name, start, end, on_device};
}

void clfi_profile_phase(clf_context *context, const char *name, uint64_t start_ns, uint64_t end_ns)
{
    if (context->profile)
        add_span(context->profile, name, start_ns, end_ns, false);
}

static void add_total(clf_profile *profile, const char *name, uint64_t duration_ns)
{
    size_t i = 0;
    while (i < profile->total_count && strcmp(profile->totals[i].kernel, name) != 0)
        i++;
    if (i == profile->total_count) {
        if (clfi_grow(&profile->totals, &profile->total_capacity, i + 1, sizeof *profile->totals, "kernel totals") != CLF_OK)
            return;
        profile->totals[profile->total_count++] = (clf_kernel_stats){name, 0, 0};
    }
    profile->totals[i].launches++;
    profile->totals[i].total_ns += duration_ns;
}

uint64_t clfi_profile_collect(clf_profile *profile, uint64_t *longest)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < profile->pending_count; i++) {
        const pending *p = &profile->pending[i];
        cl_ulong queued = 0, start = 0, end = 0;
        const bool ok =
            clGetEventProfilingInfo(p->event, CL_PROFILING_COMMAND_QUEUED, sizeof queued, &queued, NULL) == CL_SUCCESS &&
            clGetEventProfilingInfo(p->event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) == CL_SUCCESS &&
            clGetEventProfilingInfo(p->event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS && end >= start;
        clReleaseEvent(p->event);
        if (!ok)
            continue;
        if (!profile->has_offset) { /* "queued" happens inside the enqueue call, just before enqueued_ns */
            profile->device_offset_ns = (int64_t)p->enqueued_ns - (int64_t)queued;
            profile->has_offset = true;
        }
        add_span(profile, p->name, (uint64_t)((int64_t)start + profile->device_offset_ns),
                 (uint64_t)((int64_t)end + profile->device_offset_ns), true);
        add_total(profile, p->name, end - start);
        sum += end - start;
        if (end - start > *longest)
            *longest = end - start;
    }
    profile->pending_count = 0;
    return sum;
}

void clfi_profile_forget(clf_profile *profile)
{
    if (profile)
        profile->span_count = 0;
}

static int by_total(const void *a, const void *b)
{
    const uint64_t x = ((const clf_kernel_stats *)a)->total_ns, y = ((const clf_kernel_stats *)b)->total_ns;
    return x < y ? 1 : x > y ? -1 : 0;
}

size_t clf_context_kernel_count(clf_context *context)
{
    if (!context || !context->profile || clf_context_finish(context) != CLF_OK)
        return 0;
    if (context->profile->total_count)
        qsort(context->profile->totals, context->profile->total_count, sizeof(clf_kernel_stats), by_total);
    return context->profile->total_count;
}

clf_status clf_context_kernel_get(clf_context *context, size_t index, clf_kernel_stats *out)
{
    const size_t count = clf_context_kernel_count(context);
    if (!out || index >= count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "kernel statistics %zu: expected an index below %zu", index, count);
    *out = context->profile->totals[index];
    return CLF_OK;
}

clf_status clf_context_write_trace(clf_context *context, const char *path)
{
    if (!context || !path || !context->profile)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "trace: needs a context created with profile = 1, and a path");
    CLF_TRY(clf_context_finish(context));
    clf_profile *profile = context->profile;
    clf_atomic_file file;
    CLF_TRY(clfi_atomic_open(path, &file));
    clfi_atomic_printf(&file, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                         "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"host\"}},\n"
                         "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"device\"}}");
    for (size_t i = 0; i < profile->span_count; i++) {
        const span *s = &profile->spans[i];
        const uint64_t start = s->start_ns > profile->origin_ns ? s->start_ns - profile->origin_ns : 0;
        clfi_atomic_printf(&file, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"name\":\"%s\",\"ts\":%.3f,\"dur\":%.3f}", s->on_device ? 2 : 1,
                s->name, (double)start / 1e3, (double)(s->end_ns - s->start_ns) / 1e3);
    }
    clfi_atomic_printf(&file, "\n]}\n");
    return clfi_atomic_commit(&file);
}
