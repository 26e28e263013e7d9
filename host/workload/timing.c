/* SPDX-License-Identifier: MIT */
/* Measures the times of one run. */
#include "workload/timing.h"

#include <string.h>

#include "base/clock.h"
#include "runtime/profile.h"

static uint64_t clblast_launches(clf_context *context)
{
    clf_kernel_stats kernel;
    const size_t count = clf_context_kernel_count(context);
    for (size_t i = 0; i < count; i++)
        if (clf_context_kernel_get(context, i, &kernel) == CLF_OK && strcmp(kernel.kernel, "clblast_gemm") == 0)
            return kernel.launches;
    return 0;
}

clf_status clfi_time_call(clf_context *context, clf_status (*call)(void *state), void *state, clfi_sample *out)
{
    CLF_TRY(clf_context_finish(context));
    const uint64_t launches = clblast_launches(context), device_before = context->stats.kernel_ns, start = clfi_now_ns();
    CLF_TRY(call(state));
    const uint64_t end = clfi_now_ns();
    CLF_TRY(clf_context_finish(context)); /* reads the events' times, outside the measured time */
    *out = (clfi_sample){.wall_ns = (double)(end - start), .device_ns = -1};
    if (context->profile && clblast_launches(context) == launches)
        out->device_ns = (double)(context->stats.kernel_ns - device_before);
    clfi_profile_forget(context->profile);
    return CLF_OK;
}
