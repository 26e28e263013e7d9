/* SPDX-License-Identifier: MIT */
/* Limits the time of a launch. A GPU that draws a desktop cannot do so while a kernel runs, and a kernel driver resets a GPU that is busy
 * for some seconds. So a launch whose estimate exceeds the budget is enqueued in pieces, and the queue is flushed between them.
 *
 * Pieces are ranges of work-groups, enqueued with the global offset of an NDRange. get_group_id ignores this offset, so programs of a
 * context with a budget begin with clfi_budget_prelude, which adds it. Kernels must not ask for the number of groups or items. A piece
 * computes exactly what its part of the whole launch would compute, so results do not change. */
#ifndef CLFI_RUNTIME_LAUNCH_BUDGET_H
#define CLFI_RUNTIME_LAUNCH_BUDGET_H

#include "runtime/context.h"

/* OpenCL C in front of the programs of a context with a budget, except those of launch graphs. */
extern const char clfi_budget_prelude[];

/* The default budget of a context on the device, in milliseconds: 100 on GPUs that share the host's memory, 500 on other GPUs and
 * accelerators, 0 (no limit) on CPUs. */
double clfi_budget_default_ms(const clf_device *device);

/* *out: the budget of a context on the device, in milliseconds; 0: no limit. wanted_ms above 0 is the budget, below 0 means no limit, and 0
 * means $CLF_LAUNCH_MS, else the default. In the background it is half of that. INVALID_ARGUMENT: wanted_ms is NaN, or the variable is not
 * a number from 0 on. */
clf_status clfi_budget_ms(const clf_device *device, double wanted_ms, bool is_background, double *out);

/* Fills context->budget. wanted_ms and statuses as for clfi_budget_ms. */
clf_status clfi_budget_set(clf_context *context, double wanted_ms);

static inline bool clfi_budget_is_set(const clf_context *context)
{
    return context->budget.limit_ns > 0;
}

/* Upper estimate of the time of a launch with `items` work-items, in nanoseconds, by the rates that are known. */
double clfi_budget_estimate(const clf_context *context, const clf_work *work, double items);

/* Sets piece[] to the work-groups of a piece in each dimension: all of them if the launch fits into the budget. The first launch that does
 * not fit makes the context look up the device's rates, in the cache or by a measurement of some milliseconds. */
void clfi_budget_piece(clf_context *context, const clf_work *work, const size_t groups[3], const size_t local[3], size_t piece[3]);

/* Notes a piece that is about to enter the queue. If the queue's waiting work and the piece exceed the budget together, the queue is
 * flushed first. In the background it is finished instead, so that other programs get the device. kernel: borrowed name. */
void clfi_budget_note(clf_context *context, const char *kernel, double estimate_ns);

#endif
