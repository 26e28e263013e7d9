/* SPDX-License-Identifier: MIT */
/* Launches row normalisation: layout, kernel variant, work distribution. */
#include "kernel/row_norm.h"

#include <limits.h>

#include "kernel/axes.h"
#include "kernel/loops.h"
#include "kernel/row_lanes.h"

enum { X, RESIDUAL, Y, GAMMA, BETA, OPERANDS, ROW_OPERANDS = GAMMA };
enum { PASSES = 4 /* over a row */ };

typedef struct norm_layout {
    clf_axes rows, columns;
    int64_t row_count, length;
    bool is_unit;
    int width; /* elements of a vector */
} norm_layout;

static norm_layout layout_of(const clf_context *context, const clf_row_norm *args)
{
    const clf_view *const views[OPERANDS] = {args->x, args->residual, args->y, args->gamma, args->beta};
    const int outer = args->x->rank - args->axes;
    const int outer_first[OPERANDS] = {0, 0, 0, 0, 0};
    const int inner_first[OPERANDS] = {outer, outer, outer, 0, 0};
    norm_layout l;
    clfi_axes_merge(views, outer_first, ROW_OPERANDS, outer, &l.rows);
    clfi_axes_merge(views, inner_first, OPERANDS, args->axes, &l.columns);
    l.row_count = clfi_axes_size(&l.rows);
    l.length = clfi_axes_size(&l.columns);
    l.is_unit = clfi_axes_is_unit(&l.columns, views);
    l.width = l.is_unit ? context->device.caps.vector_width : 1;
    return l;
}

static clf_kernel_spec spec_of(const clf_row_norm *args, const norm_layout *l, const char *file, const char *kernel)
{
    clf_kernel_spec spec = clfi_kernel_spec(file, kernel);
    clfi_spec_text(&spec, "NAME", kernel);
    clfi_spec_int(&spec, "IS_CENTERED", args->kind == CLF_ROW_LAYER_NORM);
    clfi_spec_int(&spec, "IS_L2", args->kind == CLF_ROW_L2_NORMALIZE);
    clfi_spec_dtype(&spec, "X", args->x->dtype);
    clfi_spec_dtype(&spec, "RESIDUAL", args->residual ? args->residual->dtype : args->x->dtype);
    clfi_spec_dtype(&spec, "GAMMA", args->gamma ? args->gamma->dtype : args->x->dtype);
    clfi_spec_dtype(&spec, "BETA", args->beta ? args->beta->dtype : args->x->dtype);
    clfi_spec_dtype(&spec, "Y", args->y->dtype);
    clfi_spec_int(&spec, "HAS_RESIDUAL", args->residual != NULL);
    clfi_spec_int(&spec, "HAS_GAMMA", args->gamma != NULL);
    clfi_spec_int(&spec, "HAS_BETA", args->beta != NULL);
    clfi_spec_int(&spec, "ROW_AXES", l->rows.count);
    clfi_spec_int(&spec, "COLUMN_AXES", l->columns.count);
    clfi_spec_int(&spec, "IS_UNIT", l->is_unit);
    return spec;
}

/* Arguments up to the row count. */
static void set_operands(clf_launch *launch, const clf_row_norm *args, const norm_layout *l)
{
    clfi_arg_view(launch, args->x);
    clfi_arg_view(launch, args->residual ? args->residual : args->x);
    clfi_arg_view(launch, args->gamma ? args->gamma : args->x);
    clfi_arg_view(launch, args->beta ? args->beta : args->x);
    clfi_arg_view(launch, args->y);
    clfi_arg_axes(launch, "row_axes", &l->rows);
    clfi_arg_axes(launch, "column_axes", &l->columns);
    clfi_arg_long(launch, l->row_count);
}

static const char *kernel_name(clf_row_norm_kind kind, bool is_group)
{
    static const char *const names[][2] = {
        [CLF_ROW_LAYER_NORM] = {"layer_norm_vector", "layer_norm_group"},
        [CLF_ROW_RMS_NORM] = {"rms_norm_vector", "rms_norm_group"},
        [CLF_ROW_L2_NORMALIZE] = {"l2_normalize_vector", "l2_normalize_group"},
    };
    return names[kind][is_group];
}

/* Loop iterations of one row in the vector kernel: vectors and the tail in every pass, and the axes of each element's offset. */
static int64_t vector_iterations(const norm_layout *l)
{
    return PASSES * (l->length / l->width + l->width) * (l->is_unit ? 1 : l->columns.count * OPERANDS) + l->rows.count * ROW_OPERANDS;
}

static void state_work(clf_launch *launch, const norm_layout *l)
{
    const double elements = (double)l->row_count * (double)l->length;
    clfi_launch_work(launch, 4 * elements, (PASSES + 1) * sizeof(float) * elements);
}

bool clfi_row_norm_vector_supports(const clf_context *context, const void *args)
{
    const norm_layout l = layout_of(context, args);
    return l.length <= INT_MAX && clfi_loops_fit(context, vector_iterations(&l));
}

clf_status clfi_row_norm_vector(clf_context *context, const void *arguments)
{
    const clf_row_norm *args = arguments;
    const norm_layout l = layout_of(context, args);
    clf_kernel_spec spec = spec_of(args, &l, "row_norm_vector.cl", kernel_name(args->kind, false));
    clfi_spec_int(&spec, "WIDTH", l.width);
    const int64_t rows_per_item = clfi_rows_per_item(context, l.row_count, vector_iterations(&l));
    clf_launch launch = clfi_launch(context, &spec);
    set_operands(&launch, args, &l);
    clfi_arg_int(&launch, rows_per_item);
    clfi_arg_int(&launch, l.length);
    clfi_arg_float(&launch, args->eps);
    state_work(&launch, &l);
    return clfi_launch_1d(&launch, (size_t)((l.row_count + rows_per_item - 1) / rows_per_item), 1);
}

/* Lanes for each row. With launch graphs, work-groups have the graphs' size, because norms are part of graphs. */
static clf_row_lanes lanes_of(const clf_context *context, const norm_layout *l)
{
    const int group = context->device.caps.graph_group;
    return group > 1 ? clfi_row_lanes_of(l->length, group, group) : clfi_row_lanes(context, l->length);
}

bool clfi_row_norm_group_supports(const clf_context *context, const void *args)
{
    const norm_layout l = layout_of(context, args);
    const int64_t per_lane = l.length / lanes_of(context, &l).lanes + 1;
    return l.length <= INT_MAX && clfi_loops_fit(context, PASSES * (per_lane * (l.is_unit ? 1 : l.columns.count * OPERANDS) + 16));
}

clf_status clfi_row_norm_group(clf_context *context, const void *arguments)
{
    const clf_row_norm *args = arguments;
    const norm_layout l = layout_of(context, args);
    clf_kernel_spec spec = spec_of(args, &l, "row_norm_group.cl", kernel_name(args->kind, true));
    const clf_row_lanes share = lanes_of(context, &l);
    clfi_spec_row_lanes(context, &spec, &share);
    clf_launch launch = clfi_launch(context, &spec);
    set_operands(&launch, args, &l);
    clfi_arg_int(&launch, l.length);
    clfi_arg_float(&launch, args->eps);
    state_work(&launch, &l);
    return clfi_launch_1d(&launch, (size_t)((l.row_count + share.rows - 1) / share.rows), (size_t)share.group);
}
