/* SPDX-License-Identifier: MIT */
/* Launching softmax: rows, masks, kernel variant, work distribution. */
#include "kernel/softmax.h"

#include <limits.h>

#include "kernel/axes.h"
#include "kernel/loops.h"
#include "kernel/row_lanes.h"

enum { X, Y, MASK, PADDING, ATTENTION, BIAS, LENGTHS, QUERY, OPERANDS };
enum {
    PASSES = 3,
    OVERLAPPED_KEYS = 1024, /* rows of which several stay in a first-level cache */
    KEPT_KEYS = 2048,       /* exponentials in private memory: 8 KiB of a first-level cache */
    GROUPS_PER_UNIT = 32,   /* work-groups wanted on a CPU: enough to balance; of many rows each, which overlap */
    GENERIC_WG = 64
};

typedef struct layout {
    clf_axes rows;
    int64_t row_count, keys;
} layout;

/* The view without its key axis. */
static clf_view row_view(const clf_view *view, int axis)
{
    clf_view rows = *view;
    rows.rank--;
    for (int i = axis; i < rows.rank; i++) {
        rows.dim[i] = view->dim[i + 1];
        rows.stride[i] = view->stride[i + 1];
    }
    return rows;
}

static layout layout_of(const clf_softmax_args *args)
{
    clf_view query = *args->x; /* a walk whose offset is the index on the query axis */
    for (int i = 0; i < query.rank; i++)
        query.stride[i] = i == args->query_axis;
    const clf_view *const operand[OPERANDS] = {args->x,    args->y,    args->mask,    args->padding, args->attention,
                                               args->bias, args->lengths, args->query_axis >= 0 ? &query : NULL};
    clf_view rows[OPERANDS];
    const clf_view *pointer[OPERANDS];
    const int first[OPERANDS] = {0};
    for (int o = 0; o < OPERANDS; o++) {
        pointer[o] = operand[o] ? &rows[o] : NULL;
        if (operand[o])
            rows[o] = row_view(operand[o], args->axis);
    }
    layout l;
    clfi_axes_merge(pointer, first, OPERANDS, args->x->rank - 1, &l.rows);
    l.row_count = clfi_axes_size(&l.rows);
    l.keys = args->x->dim[args->axis];
    return l;
}

static int64_t key_stride(const clf_softmax_args *args, const clf_view *view)
{
    return view && view->dim[args->axis] > 1 ? view->stride[args->axis] : 0;
}

static const char *mask_kind(const clf_softmax_args *args, const clf_view *view)
{
    return !view ? "ABSENT" : key_stride(args, view) == 0 ? "PER_ROW" : "PER_KEY";
}

static clf_kernel_spec spec_of(const clf_softmax_args *args, const layout *l, const char *file, const char *kernel)
{
    static const char *const policies[] = {
        [CLF_EMPTY_ROWS_ZERO] = "EMPTY_ROWS_ZERO",
        [CLF_EMPTY_ROWS_NAN] = "EMPTY_ROWS_NAN",
        [CLF_EMPTY_ROWS_UNIFORM] = "EMPTY_ROWS_UNIFORM",
    };
    clf_kernel_spec spec = clfi_kernel_spec(file, kernel);
    clfi_spec_dtype(&spec, "X", args->x->dtype);
    clfi_spec_dtype(&spec, "Y", args->y->dtype);
    clfi_spec_int(&spec, "ROW_AXES", l->rows.count);
    clfi_spec_text(&spec, "MASK", mask_kind(args, args->mask));
    clfi_spec_text(&spec, "PADDING", mask_kind(args, args->padding));
    clfi_spec_text(&spec, "ATTENTION", mask_kind(args, args->attention));
    clfi_spec_text(&spec, "BIAS", mask_kind(args, args->bias));
    clfi_spec_int(&spec, "HAS_LENGTHS", args->lengths != NULL);
    clfi_spec_int(&spec, "IS_CAUSAL", args->query_axis >= 0);
    clfi_spec_text(&spec, "EMPTY_ROWS", policies[args->empty_rows]);
    return spec;
}

/* An absent operand still needs a buffer: some drivers refuse null pointers. Its macro keeps the kernel from reading it. */
static void arg_optional(clf_launch *launch, const clf_softmax_args *args, const clf_view *view)
{
    clfi_arg_buffer(launch, view ? view->buffer : args->x->buffer);
    clfi_arg_long(launch, view ? view->offset : 0);
}

static void arg_rows(clf_launch *launch, const clf_softmax_args *args, const layout *l)
{
    const clf_view *const keyed[] = {args->x, args->y, args->mask, args->padding, args->attention, args->bias};
    cl_int strides[COUNT(keyed)];
    for (size_t i = 0; i < COUNT(keyed); i++)
        strides[i] = (cl_int)key_stride(args, keyed[i]);
    clfi_arg_view(launch, args->x);
    clfi_arg_view(launch, args->y);
    arg_optional(launch, args, args->mask);
    arg_optional(launch, args, args->padding);
    arg_optional(launch, args, args->attention);
    arg_optional(launch, args, args->bias);
    arg_optional(launch, args, args->lengths);
    clfi_arg_axes(launch, &l->rows);
    clfi_arg_bytes(launch, strides, sizeof strides);
    clfi_arg_long(launch, l->row_count);
    clfi_arg_int(launch, l->keys);
    clfi_arg_float(launch, args->scale);
    clfi_arg_long(launch, args->causal_offset);
}

/* Indices that the kernels keep in 32 bits. */
static bool fits(const clf_softmax_args *args, const layout *l)
{
    const clf_view *const keyed[] = {args->x, args->y, args->mask, args->padding, args->attention, args->bias};
    for (size_t i = 0; i < COUNT(keyed); i++)
        if (key_stride(args, keyed[i]) > INT_MAX)
            return false;
    return l->keys <= INT_MAX;
}

static bool is_adjacent(const clf_softmax_args *args, const clf_view *view)
{
    return !view || args->x->dim[args->axis] <= 1 || view->stride[args->axis] == 1;
}

bool clfi_softmax_is_unit(const clf_softmax_args *args)
{
    return is_adjacent(args, args->x) && is_adjacent(args, args->y);
}

static int64_t vector_iterations(const clf_context *context, const layout *l)
{
    const int64_t width = context->device.caps.vector_width;
    return PASSES * (l->keys / width + 2 * width) + l->keys + l->rows.count * OPERANDS;
}

bool clfi_softmax_vector_supports(const clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const layout l = layout_of(args);
    const clf_view *const masks[] = {args->mask, args->padding, args->attention, args->bias};
    bool is_unit = clfi_softmax_is_unit(args);
    for (size_t i = 0; i < COUNT(masks); i++)
        is_unit = is_unit && (key_stride(args, masks[i]) == 0 || is_adjacent(args, masks[i]));
    return context->device.caps.is_cpu && is_unit && fits(args, &l) && clfi_loops_fit(context, vector_iterations(context, &l));
}

clf_status clfi_softmax_vector_run(clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const layout l = layout_of(args);
    const bool is_long = l.keys > OVERLAPPED_KEYS;
    clf_kernel_spec spec = is_long ? spec_of(args, &l, "softmax_vector.cl", "softmax_vector")
                                   : spec_of(args, &l, "softmax_overlapped.cl", "softmax_overlapped");
    clfi_spec_int(&spec, "WIDTH", context->device.caps.vector_width);
    clfi_spec_int(&spec, "IS_SCALED", args->scale != 1.0f);
    clfi_spec_int(&spec, "KEPT_KEYS", !is_long ? OVERLAPPED_KEYS : l.keys <= KEPT_KEYS ? KEPT_KEYS : 0);
    if (is_long)
        clfi_spec_int(&spec, "IS_Y_F32", args->y->dtype == CLF_F32);
    const int64_t groups = GROUPS_PER_UNIT * (int64_t)context->device.info.compute_units, wanted = (l.row_count + groups - 1) / groups;
    const int64_t rows_per_item = clfi_loops_clamp(context, vector_iterations(context, &l), wanted);
    clf_launch launch = clfi_launch(context, &spec);
    arg_rows(&launch, args, &l);
    clfi_arg_int(&launch, rows_per_item);
    return clfi_launch_1d(&launch, (size_t)((l.row_count + rows_per_item - 1) / rows_per_item), 1);
}

bool clfi_softmax_group_supports(const clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const layout l = layout_of(args);
    return context->device.caps.max_work_group_size >= CLFI_ROW_GROUP_MIN && fits(args, &l) &&
           clfi_loops_fit(context, PASSES * (l.keys / clfi_row_lanes(context, l.keys).lanes + 1) + l.rows.count * OPERANDS + 32);
}

clf_status clfi_softmax_group_run(clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const layout l = layout_of(args);
    clf_kernel_spec spec = spec_of(args, &l, "softmax_group.cl", "softmax_group");
    const clf_row_lanes share = clfi_row_lanes(context, l.keys);
    clfi_spec_row_lanes(&spec, &share);
    clf_launch launch = clfi_launch(context, &spec);
    arg_rows(&launch, args, &l);
    return clfi_launch_1d(&launch, (size_t)((l.row_count + share.rows - 1) / share.rows), (size_t)share.group);
}

bool clfi_softmax_generic_supports(const clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const layout l = layout_of(args);
    return context->device.caps.max_work_group_size >= GENERIC_WG && fits(args, &l) &&
           clfi_loops_fit(context, PASSES * l.keys + l.rows.count * OPERANDS);
}

clf_status clfi_softmax_generic_run(clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const layout l = layout_of(args);
    const clf_kernel_spec spec = spec_of(args, &l, "softmax_generic.cl", "softmax_generic");
    clf_launch launch = clfi_launch(context, &spec);
    arg_rows(&launch, args, &l);
    return clfi_launch_1d(&launch, (size_t)((l.row_count + GENERIC_WG - 1) / GENERIC_WG), GENERIC_WG);
}
