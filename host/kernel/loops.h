/* SPDX-License-Identifier: MIT */
/* Loop budgets: a device with short loops (caps.short_loops) ends every loop silently after 65,535 iterations per work-item, so its
 * launchers count them. */
#ifndef CLFI_KERNEL_LOOPS_H
#define CLFI_KERNEL_LOOPS_H

#include "runtime/context.h"

enum { CLFI_SHORT_LOOPS = 60000 };

/* Whether a work-item may run this number of iterations. */
static inline bool clfi_loops_fit(const clf_context *context, int64_t iterations)
{
    return !context->device.caps.short_loops || iterations <= CLFI_SHORT_LOOPS;
}

/* Units of work for one work-item: `wanted`, or fewer if units of `iterations` each would exceed the limit. At least 1. */
static inline int64_t clfi_loops_clamp(const clf_context *context, int64_t iterations, int64_t wanted)
{
    const int64_t most = context->device.caps.short_loops ? CLFI_SHORT_LOOPS / (iterations + 1) : INT32_MAX;
    const int64_t units = wanted < most ? wanted : most;
    return units > 1 ? units : 1;
}

/* Work-items for each compute unit of a CPU: enough that all units end together, and few enough that they cost little. */
enum { CLFI_ITEMS_PER_UNIT = 32 };

/* How many of `rows` independent rows a work-item of a CPU kernel takes, if each row takes `iterations` of a loop. */
static inline int64_t clfi_rows_per_item(const clf_context *context, int64_t rows, int64_t iterations)
{
    const int64_t items = CLFI_ITEMS_PER_UNIT * (int64_t)context->device.caps.compute_units;
    return clfi_loops_clamp(context, iterations, (rows + items - 1) / items);
}

#endif
