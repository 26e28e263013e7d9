/* SPDX-License-Identifier: MIT */
/* Divides rows among work-items for the row kernels of GPUs: several work-items per row, several short rows per work-group. */
#ifndef CLFI_KERNEL_ROW_LANES_H
#define CLFI_KERNEL_ROW_LANES_H

#include "runtime/probe.h"
#include "runtime/program.h"

enum { CLFI_ROW_GROUP = 256, CLFI_ROW_GROUP_MIN = 64, CLFI_ROW_LANE_ELEMENTS = 4 /* with fewer, the reduction dominates */ };

/* Work-items of a row (a power of two), work-items and rows of a work-group. */
typedef struct clf_row_lanes {
    int lanes, group;
    int64_t rows;
} clf_row_lanes;

/* The division of rows of `length` elements in work-groups of `smallest` to `largest` items, both powers of two. */
static inline clf_row_lanes clfi_row_lanes_of(int64_t length, int smallest, int largest)
{
    int lanes = 1;
    while (lanes < largest && lanes * CLFI_ROW_LANE_ELEMENTS < length)
        lanes *= 2;
    const int group = lanes < smallest ? smallest : lanes;
    return (clf_row_lanes){lanes, group, group / lanes};
}

static inline clf_row_lanes clfi_row_lanes(const clf_context *context, int64_t length)
{
    const bool is_small = context->device.caps.max_work_group_size < CLFI_ROW_GROUP;
    return clfi_row_lanes_of(length, CLFI_ROW_GROUP_MIN, is_small ? CLFI_ROW_GROUP_MIN : CLFI_ROW_GROUP);
}

/* WG, LANES and SUBGROUPS of row_sum.cl. */
static inline void clfi_spec_row_lanes(clf_context *context, clf_kernel_spec *spec, const clf_row_lanes *l)
{
    clfi_spec_int(spec, "WG", l->group);
    clfi_spec_int(spec, "LANES", l->lanes);
    clfi_spec_int(spec, "SUBGROUPS", l->lanes == l->group ? clfi_probe_subgroups(context, CLFI_PROBE_ROW_SUMS, l->group) : 0);
}

#endif
