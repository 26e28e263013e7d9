/* SPDX-License-Identifier: MIT */
/* Runs and times workloads that begin without a context. */
#include "workload/start_place.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/shared.h"
#include "runtime/usage.h"

clf_status clfi_start_place_find(const clf_context *context, bool is_cold, clfi_start_place *out)
{
    if (!is_cold && !context->shared->cache)
        CLF_FAIL(CLF_UNSUPPORTED, "start: the context has no cache of programs to start from");
    snprintf(out->device, sizeof out->device, "%zu", clf_context_device(context)->index);
    out->precision = context->precision;
    out->is_cold = is_cold;
    CLF_TRY(clfi_strdup(context->engines, &out->engines));
    CLF_TRY(clfi_strdup(context->kernel_dir ? context->kernel_dir : "", &out->kernel_dir));
    CLF_TRY(clfi_strdup(context->tuned_file ? context->tuned_file : "", &out->tuned_file));
    return clfi_strdup(is_cold ? "" : context->shared->cache->path, &out->cache_dir);
}

void clfi_start_place_free(clfi_start_place *place)
{
    free(place->cache_dir);
    free(place->engines);
    free(place->kernel_dir);
    free(place->tuned_file);
    *place = (clfi_start_place){.cache_dir = NULL};
}

/* A number that no earlier build of this or another process had. */
static uint64_t new_build_number(void)
{
    static atomic_uint_fast64_t builds;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + atomic_fetch_add(&builds, 1);
}

static clf_status create_context(const clfi_start_place *place, clf_context **out)
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    params.device = place->device;
    params.cache_dir = place->cache_dir;
    params.engines = place->engines;
    params.kernel_dir = place->kernel_dir;
    params.tuned_file = place->tuned_file;
    params.precision = place->precision;
    CLF_TRY(clf_context_create(&params, out));
    if (place->is_cold)
        (*out)->build_number = new_build_number();
    return CLF_OK;
}

clf_status clfi_start_once(clfi_start *start, double *elapsed_ns)
{
    clf_context *context = NULL;
    clf_status st;
    const uint64_t begin = clfi_now_ns();
    CLF_GOTO(create_context(&start->place, &context));
    CLF_GOTO(start->open(start, context));
    CLF_GOTO(start->use(start));
    *elapsed_ns = (double)(clfi_now_ns() - begin);
    start->memory.peak_bytes = (size_t)clfi_usage_peak_bytes(context);
done:
    start->close(start);
    clf_context_destroy(context);
    return st;
}

clf_status clfi_start_run(void *state, clfi_sample *out)
{
    *out = (clfi_sample){.wall_ns = 0, .device_ns = -1};
    return clfi_start_once(state, &out->wall_ns);
}

void clfi_start_memory(const void *state, clfi_workload_memory *out)
{
    const clfi_start *start = state;
    *out = start->memory;
}
