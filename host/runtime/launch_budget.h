/* SPDX-License-Identifier: MIT */
/* The time that a launch may take. A GPU that draws a desktop cannot do so while a kernel runs, and a kernel driver resets a GPU that is
 * busy for some seconds. So a launch whose estimate exceeds the budget is enqueued in pieces, and the queue is flushed between them.
 *
 * Pieces are ranges of work-groups, begun by the offsets that OpenCL has for an NDRange. get_group_id does not count them: programs of a
 * context with a budget begin with clfi_budget_prelude, which makes it. Kernels must not ask for the number of groups or items. A piece
 * computes what its part of the whole launch would, so that results keep every bit. */
#ifndef CLFI_RUNTIME_LAUNCH_BUDGET_H
#define CLFI_RUNTIME_LAUNCH_BUDGET_H

#include "runtime/context.h"

/* OpenCL C in front of every program of a context with a budget. */
extern const char clfi_budget_prelude[];

/* The budget that a context on the device has unless it is told another, in milliseconds: 100 on GPUs that share the host's memory, 500 on
 * others, 0 (no bound) on CPUs. */
double clfi_budget_default_ms(const clf_device *device);

/* Fills context->budget: from `wanted_ms` (above 0: that; below: no bound), else $CLF_LAUNCH_MS, else the default; half of it where the
 * context is in the background. INVALID_ARGUMENT: the variable is no number from 0 on. */
clf_status clfi_budget_set(clf_context *context, double wanted_ms);

static inline bool clfi_budget_is_set(const clf_context *context)
{
    return context->budget.limit_ns > 0;
}

/* How long the device takes at most for a launch of so many work-items, in nanoseconds, by the rates that are known. */
double clfi_budget_estimate(const clf_context *context, const clf_work *work, double items);

/* Work-groups for each dimension of a piece; all of them where the launch keeps the budget. The first launch that does not has the device's
 * rates looked up, in the cache or by a measurement of some milliseconds. */
void clfi_budget_piece(clf_context *context, const clf_work *work, const size_t groups[3], const size_t local[3], size_t piece[3]);

/* Before a piece enters the queue: notes it, and flushes the queue where what waits there would exceed the budget with it. In the
 * background the queue ends first, so that others get the device. */
void clfi_budget_note(clf_context *context, const char *kernel, double estimate_ns);

#endif
