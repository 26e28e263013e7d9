/* SPDX-License-Identifier: MIT */
/* Counts the device memory in use and its peak. */
#include "runtime/usage.h"

uint64_t clfi_usage_bytes(const clf_context *context)
{
    return context->stats.device_bytes + context->stats.mapped_bytes - context->usage.arena_blocks + context->usage.arena_regions;
}

uint64_t clfi_usage_peak_bytes(const clf_context *context)
{
    return context->usage.peak;
}

void clfi_usage_restart(clf_context *context)
{
    context->usage.peak = clfi_usage_bytes(context);
}

void clfi_usage_grown(clf_context *context)
{
    const uint64_t now = clfi_usage_bytes(context);
    if (now > context->usage.peak)
        context->usage.peak = now;
}
