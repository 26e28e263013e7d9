/* SPDX-License-Identifier: MIT */
/* Launches softmax: rows, masks, kernel variant, work distribution. */
#include "kernel/softmax.h"

#include <limits.h>

#include "kernel/axes.h"
#include "kernel/loops.h"
#include "kernel/row_lanes.h"

enum { X, Y, MASK, PADDING, ATTENTION, BIAS, LENGTHS, QUERY, OPERANDS };
enum {
    PASSES = 3,
    OVERLAPPED_KEYS = 1024, /* longest rows of which several stay in a first-level cache */
    KEPT_KEYS = 2048,       /* exponentials in private memory: 8 KiB of a first-level cache */
    LINE_BLOCK = 256,       /* columns whose maxima and sums stay in a first-level cache, in long runs of memory */
    SHORT_LINE_BLOCK = 64,  /* used if LINE_BLOCK gives too few work-items */
    LINES_PER_UNIT = 2,
    GENERIC_WG = 64
};

typedef struct softmax_layout {
    clf_axes rows;
    int64_t row_count, keys;
} softmax_layout;

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

static softmax_layout layout_of(const clf_softmax_args *args)
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
    softmax_layout l;
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

/* Everything but the masks. */
static void spec_common(clf_kernel_spec *spec, const clf_softmax_args *args, const softmax_layout *l)
{
    static const char *const policies[] = {
        [CLF_EMPTY_ROWS_ZERO] = "EMPTY_ROWS_ZERO",
        [CLF_EMPTY_ROWS_NAN] = "EMPTY_ROWS_NAN",
        [CLF_EMPTY_ROWS_UNIFORM] = "EMPTY_ROWS_UNIFORM",
    };
    clfi_spec_dtype(spec, "X", args->x->dtype);
    clfi_spec_dtype(spec, "Y", args->y->dtype);
    clfi_spec_int(spec, "ROW_AXES", l->rows.count);
    clfi_spec_int(spec, "HAS_LENGTHS", args->lengths != NULL);
    clfi_spec_int(spec, "IS_CAUSAL", args->query_axis >= 0);
    clfi_spec_text(spec, "EMPTY_ROWS", policies[args->empty_rows]);
}

static clf_kernel_spec spec_of(const clf_softmax_args *args, const softmax_layout *l, const char *file, const char *kernel)
{
    clf_kernel_spec spec = clfi_kernel_spec(file, kernel);
    spec_common(&spec, args, l);
    clfi_spec_text(&spec, "MASK", mask_kind(args, args->mask));
    clfi_spec_text(&spec, "PADDING", mask_kind(args, args->padding));
    clfi_spec_text(&spec, "ATTENTION", mask_kind(args, args->attention));
    clfi_spec_text(&spec, "BIAS", mask_kind(args, args->bias));
    return spec;
}

/* An absent operand still needs a buffer: some drivers refuse null pointers. Its macro keeps the kernel from reading it. */
static void arg_optional(clf_launch *launch, const clf_softmax_args *args, const clf_view *view)
{
    clfi_arg_buffer(launch, view ? view->buffer : args->x->buffer);
    clfi_arg_long(launch, view ? view->offset : 0);
}

static void arg_rows(clf_launch *launch, const clf_softmax_args *args, const softmax_layout *l)
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
    clfi_arg_axes(launch, "row_axes", &l->rows);
    clfi_arg_bytes(launch, strides, sizeof strides);
    clfi_arg_long(launch, l->row_count);
    clfi_arg_int(launch, l->keys);
    clfi_arg_float(launch, args->scale);
    clfi_arg_long(launch, args->causal_offset);
}

/* Indices that the kernels keep in 32 bits. */
static bool fits(const clf_softmax_args *args, const softmax_layout *l)
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

static void state_work(clf_launch *launch, const softmax_layout *l)
{
    const double elements = (double)l->row_count * (double)l->keys;
    clfi_launch_work(launch, 16 * elements, (PASSES + 2) * sizeof(float) * elements);
}

int64_t clfi_softmax_rows(const clf_softmax_args *args)
{
    return layout_of(args).row_count;
}

bool clfi_softmax_is_unit(const clf_softmax_args *args)
{
    return is_adjacent(args, args->x) && is_adjacent(args, args->y);
}

static int64_t vector_iterations(const clf_context *context, const softmax_layout *l)
{
    const int64_t width = context->device.caps.vector_width;
    return PASSES * (l->keys / width + 2 * width) + l->keys + l->rows.count * OPERANDS;
}

bool clfi_softmax_vector_supports(const clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const softmax_layout l = layout_of(args);
    const clf_view *const masks[] = {args->mask, args->padding, args->attention, args->bias};
    bool is_unit = clfi_softmax_is_unit(args);
    for (size_t i = 0; i < COUNT(masks); i++)
        is_unit = is_unit && (key_stride(args, masks[i]) == 0 || is_adjacent(args, masks[i]));
    return context->device.caps.is_cpu && is_unit && fits(args, &l) && clfi_loops_fit(context, vector_iterations(context, &l));
}

clf_status clfi_softmax_vector_run(clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const softmax_layout l = layout_of(args);
    const bool is_long = l.keys > OVERLAPPED_KEYS;
    clf_kernel_spec spec = is_long ? spec_of(args, &l, "softmax_vector.cl", "softmax_vector")
                                   : spec_of(args, &l, "softmax_overlapped.cl", "softmax_overlapped");
    clfi_spec_int(&spec, "WIDTH", context->device.caps.vector_width);
    clfi_spec_int(&spec, "IS_SCALED", args->scale != 1.0f);
    clfi_spec_int(&spec, "KEPT_KEYS", !is_long ? OVERLAPPED_KEYS : l.keys <= KEPT_KEYS ? KEPT_KEYS : 0);
    if (is_long)
        clfi_spec_int(&spec, "IS_Y_F32", args->y->dtype == CLF_F32);
    const int64_t rows_per_item = clfi_rows_per_item(context, l.row_count, vector_iterations(context, &l));
    clf_launch launch = clfi_launch(context, &spec);
    arg_rows(&launch, args, &l);
    clfi_arg_int(&launch, rows_per_item);
    state_work(&launch, &l);
    return clfi_launch_1d(&launch, (size_t)((l.row_count + rows_per_item - 1) / rows_per_item), 1);
}

/* Finds a row axis along which x and y are adjacent and moves it to the end. The axis has at least a vector's size; masks and bias step
 * along it by 0 or 1, lengths and causal limits by 0. False: there is none. */
static bool find_columns(const clf_context *context, softmax_layout *l)
{
    static const int column_operands[] = {X, Y, MASK, PADDING, ATTENTION, BIAS};
    for (int i = l->rows.count - 1; i >= 0; i--) {
        clf_axes *rows = &l->rows;
        bool fits = rows->stride[X][i] == 1 && rows->stride[Y][i] == 1 && rows->dim[i] >= context->device.caps.vector_width &&
                    rows->dim[i] <= INT_MAX;
        for (size_t o = 0; o < COUNT(column_operands); o++)
            fits = fits && (rows->stride[column_operands[o]][i] == 0 || rows->stride[column_operands[o]][i] == 1);
        if (!fits || rows->stride[LENGTHS][i] != 0 || rows->stride[QUERY][i] != 0)
            continue;
        const int last = rows->count - 1;
        for (int a = i; a < last; a++) {
            const int64_t size = rows->dim[a];
            rows->dim[a] = rows->dim[a + 1];
            rows->dim[a + 1] = size;
            for (int o = 0; o < OPERANDS; o++) {
                const int64_t stride = rows->stride[o][a];
                rows->stride[o][a] = rows->stride[o][a + 1];
                rows->stride[o][a + 1] = stride;
            }
        }
        return true;
    }
    return false;
}

static int64_t line_iterations(const clf_context *context, const softmax_layout *l)
{
    const int64_t vectors = 2 * LINE_BLOCK / context->device.caps.vector_width;
    return (2 * l->keys + 4) * vectors + l->rows.count * OPERANDS;
}

bool clfi_softmax_lines_supports(const clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    softmax_layout l = layout_of(args);
    return context->device.caps.is_cpu && fits(args, &l) && clfi_loops_fit(context, line_iterations(context, &l)) &&
           find_columns(context, &l);
}

/* This kernel looks up a mask for each key, because columns may differ; other kernels look up a mask that holds for a row once. */
static const char *column_mask(const clf_view *view)
{
    return view ? "PER_KEY" : "ABSENT";
}

clf_status clfi_softmax_lines_run(clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    softmax_layout l = layout_of(args);
    find_columns(context, &l);
    const int last = l.rows.count - 1;
    const int64_t columns = l.rows.dim[last], units = context->device.info.compute_units;
    const int64_t block = l.row_count / LINE_BLOCK >= LINES_PER_UNIT * units ? LINE_BLOCK : SHORT_LINE_BLOCK;
    const int64_t blocks_per_line = columns >= 2 * block ? columns / block : 1, blocks = l.row_count / columns * blocks_per_line;
    const int64_t per_item = clfi_rows_per_item(context, blocks, line_iterations(context, &l));
    clf_kernel_spec spec = clfi_kernel_spec("softmax_lines.cl", "softmax_lines");
    spec_common(&spec, args, &l);
    clfi_spec_text(&spec, "MASK", column_mask(args->mask));
    clfi_spec_text(&spec, "PADDING", column_mask(args->padding));
    clfi_spec_text(&spec, "ATTENTION", column_mask(args->attention));
    clfi_spec_text(&spec, "BIAS", column_mask(args->bias));
    clfi_spec_int(&spec, "MASK_COLUMN", l.rows.stride[MASK][last]);
    clfi_spec_int(&spec, "PADDING_COLUMN", l.rows.stride[PADDING][last]);
    clfi_spec_int(&spec, "ATTENTION_COLUMN", l.rows.stride[ATTENTION][last]);
    clfi_spec_int(&spec, "BIAS_COLUMN", l.rows.stride[BIAS][last]);
    clfi_spec_int(&spec, "WIDTH", context->device.caps.vector_width);
    clfi_spec_int(&spec, "IS_SCALED", args->scale != 1.0f);
    clfi_spec_int(&spec, "BLOCK", block);
    clf_launch launch = clfi_launch(context, &spec);
    arg_rows(&launch, args, &l);
    clfi_arg_int(&launch, columns);
    clfi_arg_int(&launch, blocks_per_line);
    clfi_arg_long(&launch, blocks);
    clfi_arg_int(&launch, per_item);
    state_work(&launch, &l);
    return clfi_launch_1d(&launch, (size_t)((blocks + per_item - 1) / per_item), 1);
}

bool clfi_softmax_group_supports(const clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const softmax_layout l = layout_of(args);
    return context->device.caps.max_work_group_size >= CLFI_ROW_GROUP_MIN && fits(args, &l) &&
           clfi_loops_fit(context, PASSES * (l.keys / clfi_row_lanes(context, l.keys).lanes + 1) + l.rows.count * OPERANDS + 32);
}

clf_status clfi_softmax_group_run(clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const softmax_layout l = layout_of(args);
    clf_kernel_spec spec = spec_of(args, &l, "softmax_group.cl", "softmax_group");
    const clf_row_lanes share = clfi_row_lanes(context, l.keys);
    clfi_spec_row_lanes(context, &spec, &share);
    clf_launch launch = clfi_launch(context, &spec);
    arg_rows(&launch, args, &l);
    state_work(&launch, &l);
    return clfi_launch_1d(&launch, (size_t)((l.row_count + share.rows - 1) / share.rows), (size_t)share.group);
}

bool clfi_softmax_generic_supports(const clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const softmax_layout l = layout_of(args);
    return context->device.caps.max_work_group_size >= GENERIC_WG && fits(args, &l) &&
           clfi_loops_fit(context, PASSES * l.keys + l.rows.count * OPERANDS);
}

clf_status clfi_softmax_generic_run(clf_context *context, const void *arguments)
{
    const clf_softmax_args *args = arguments;
    const softmax_layout l = layout_of(args);
    const clf_kernel_spec spec = spec_of(args, &l, "softmax_generic.cl", "softmax_generic");
    clf_launch launch = clfi_launch(context, &spec);
    arg_rows(&launch, args, &l);
    state_work(&launch, &l);
    return clfi_launch_1d(&launch, (size_t)((l.row_count + GENERIC_WG - 1) / GENERIC_WG), GENERIC_WG);
}
