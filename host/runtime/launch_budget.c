/* SPDX-License-Identifier: MIT */
/* Estimates how long launches take, and cuts them into pieces. */
#include "runtime/launch_budget.h"

#include <errno.h>
#include <math.h>

#include <stdlib.h>
#include <string.h>

enum { SHARED_MS = 100, OWN_MS = 500, UNKNOWN_CLOCK_MHZ = 300, ITEMS_PER_LANE = 2 };

/* Rates that are assumed until a device is measured: a quarter of the multiply-adds that units and clock allow, and half of the bandwidth
 * of the slowest memory of such devices, in bytes per nanosecond. */
#define KEPT_SHARE 0.25
#define SHARED_BYTES_PER_NS 6.0
#define OWN_BYTES_PER_NS 40.0

const char clfi_budget_prelude[] = "#define get_group_id(d) (get_global_offset(d) / get_local_size(d) + get_group_id(d))\n";

double clfi_budget_default_ms(const clf_device *device)
{
    return device->info.type == CLF_DEVICE_TYPE_CPU ? 0 : device->info.unified_memory ? SHARED_MS : OWN_MS;
}

static clf_status read_variable(const clf_device *device, double *out)
{
    const char *text = getenv("CLF_LAUNCH_MS");
    char *end;
    *out = clfi_budget_default_ms(device);
    if (!text || !text[0])
        return CLF_OK;
    errno = 0;
    const double ms = strtod(text, &end);
    if (*end || errno || !(ms >= 0) || isinf(ms))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "CLF_LAUNCH_MS: expected milliseconds (0: no limit), found \"%s\"", text);
    *out = ms;
    return CLF_OK;
}

clf_status clfi_budget_ms(const clf_device *device, double wanted_ms, bool is_background, double *out)
{
    double ms = wanted_ms > 0 ? wanted_ms : 0;
    if (isnan(wanted_ms))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "context: launch_ms is not a number");
    if (wanted_ms == 0)
        CLF_TRY(read_variable(device, &ms));
    *out = is_background ? ms / 2 : ms;
    return CLF_OK;
}

clf_status clfi_budget_set(clf_context *context, double wanted_ms)
{
    const clf_device *device = &context->device;
    const uint32_t clock_mhz = device->info.clock_mhz ? device->info.clock_mhz : UNKNOWN_CLOCK_MHZ;
    double ms;
    CLF_TRY(clfi_budget_ms(device, wanted_ms, context->is_background, &ms));
    context->budget = (clf_launch_budget){
        .limit_ns = ms * 1e6,
        .multiply_adds_per_ns = KEPT_SHARE * device->caps.compute_units * device->caps.unit_lanes * clock_mhz * 1e-3,
        .bytes_per_ns = device->caps.unified_memory ? SHARED_BYTES_PER_NS : OWN_BYTES_PER_NS,
    };
    return CLF_OK;
}

/* The least number of work-items that keeps all units busy. A launch of fewer items takes as long as a launch of this number. */
static double least_items(const clf_device_caps *caps)
{
    return caps->is_cpu ? caps->compute_units : (double)ITEMS_PER_LANE * caps->compute_units * caps->unit_lanes;
}

double clfi_budget_estimate(const clf_context *context, const clf_work *work, double items)
{
    const clf_launch_budget *budget = &context->budget;
    const double least = least_items(&context->device.caps);
    const double ns = work->multiply_adds / budget->multiply_adds_per_ns + work->bytes / budget->bytes_per_ns;
    return items < least ? ns * least / items : ns;
}

/* Cuts `count` into pieces of at most `most` and about equal size, and returns this size. */
static size_t even_part(size_t count, size_t most)
{
    const size_t size = most < 1 ? 1 : most < count ? most : count, pieces = (count + size - 1) / size;
    return (count + pieces - 1) / pieces;
}

/* The most work-groups of a piece: what fits into the budget, but at least enough to keep all units busy. */
static double most_groups(const clf_context *context, double estimate_ns, double groups, double group_items)
{
    const double kept = floor(context->budget.limit_ns * groups / estimate_ns),
                 least = ceil(least_items(&context->device.caps) / group_items);
    return fmax(kept, fmax(least, 1));
}

void clfi_budget_piece(clf_context *context, const clf_work *work, const size_t groups[3], const size_t local[3], size_t piece[3])
{
    const double all = (double)groups[0] * (double)groups[1] * (double)groups[2];
    const double group_items = (double)local[0] * (double)local[1] * (double)local[2];
    double ns = clfi_budget_estimate(context, work, all * group_items);
    memcpy(piece, groups, 3 * sizeof *piece);
    if (ns > context->budget.limit_ns && !context->budget.is_measured) {
        context->life->measure_rates(context);
        ns = clfi_budget_estimate(context, work, all * group_items);
    }
    if (ns <= context->budget.limit_ns)
        return;
    double left = most_groups(context, ns, all, group_items);
    for (int i = 0; i < 3; i++) {
        piece[i] = even_part(groups[i], left < (double)groups[i] ? (size_t)left : groups[i]);
        left /= (double)piece[i];
    }
}

/* Flushes the queue, or finishes it in the background. The next launch reports a failure. */
static void make_room(clf_context *context)
{
    if (context->is_background)
        clfi_context_finish_queue(context);
    else
        clFlush(context->queue);
    context->budget.waiting_ns = 0;
}

void clfi_budget_note(clf_context *context, const char *kernel, double estimate_ns)
{
    clf_launch_budget *budget = &context->budget;
    if (budget->waiting_ns > 0 && budget->waiting_ns + estimate_ns > budget->limit_ns)
        make_room(context);
    budget->waiting_ns += estimate_ns;
    budget->last_kernel = kernel;
    budget->last_ns = estimate_ns;
    if (estimate_ns > (double)context->stats.longest_estimate_ns)
        context->stats.longest_estimate_ns = (uint64_t)estimate_ns;
}
