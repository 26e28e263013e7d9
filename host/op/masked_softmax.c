/* SPDX-License-Identifier: MIT */
/* Masked softmax: checks, masks brought to the shape of x, the table of engines. */
#include "op/masked_softmax.h"

#include "op/engines.h"

#define VECTOR {"vector", clfi_softmax_vector_supports, clfi_softmax_vector_run}
#define GROUP {"group", clfi_softmax_group_supports, clfi_softmax_group_run}
#define GENERIC {"generic", clfi_softmax_generic_supports, clfi_softmax_generic_run}

/* Sharing a row between work-items pays on GPUs where its keys are adjacent; otherwise neighbouring rows are read together. */
static const clf_engine cpu_engines[] = {VECTOR, GENERIC, GROUP};
static const clf_engine gpu_unit_engines[] = {GROUP, GENERIC, VECTOR};
static const clf_engine gpu_engines[] = {GENERIC, GROUP, VECTOR};
static const clf_engine_table cpu_table = {"softmax", cpu_engines, COUNT(cpu_engines)};
static const clf_engine_table gpu_unit_table = {"softmax", gpu_unit_engines, COUNT(gpu_unit_engines)};
static const clf_engine_table gpu_table = {"softmax", gpu_engines, COUNT(gpu_engines)};

clf_status clfi_softmax(clf_context *context, const clf_softmax_args *args)
{
    if (clfi_view_count(args->x) == 0)
        return CLF_OK;
    const clf_engine_table *table = &cpu_table;
    if (!context->device.caps.is_cpu)
        table = clfi_softmax_is_unit(args) ? &gpu_unit_table : &gpu_table;
    return clfi_engine_run(context, table, args);
}

clf_status clfi_view_broadcast(const char *what, const clf_view *view, const clf_view *like, const int *map, clf_view *out)
{
    char found[CLFI_SHAPE_TEXT_BYTES], expected[CLFI_SHAPE_TEXT_BYTES];
    clf_view wide = {.buffer = view->buffer, .dtype = view->dtype, .rank = like->rank, .offset = view->offset};
    for (int i = 0; i < like->rank; i++) {
        wide.dim[i] = like->dim[i];
        if (map[i] < 0 || view->dim[map[i]] == 1)
            continue;
        if (view->dim[map[i]] != like->dim[i])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s is %s: axis %d must have size %lld or 1 to go with %s", what,
                     clfi_shape_text(view->rank, view->dim, found), map[i], (long long)like->dim[i],
                     clfi_shape_text(like->rank, like->dim, expected));
        wide.stride[i] = view->stride[map[i]];
    }
    *out = wide;
    return CLF_OK;
}

clf_status clfi_lengths_check(clf_context *context, const char *op, const clf_tensor *lengths, int64_t batch, int64_t queries)
{
    char found[CLFI_SHAPE_TEXT_BYTES];
    CLF_TRY(clfi_tensor_check(context, "lengths", lengths));
    const clf_view *view = clfi_tensor_view(lengths);
    if (view->dtype != CLF_I32)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: %s lengths is %s, expected int32", op, clf_dtype_name(view->dtype));
    if (view->rank < 1 || view->rank > 2 || view->dim[0] != batch || (view->rank == 2 && view->dim[1] != queries))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s lengths is %s, expected [%lld] or [%lld,%lld]", op,
                 clfi_shape_text(view->rank, view->dim, found), (long long)batch, (long long)batch, (long long)queries);
    return CLF_OK;
}

/* Axis `axis` of x, counted from the end when negative. */
static clf_status find_axis(const char *what, int axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_AXIS: softmax %s %d: x has rank %d", what, axis, rank);
    *out = axis < 0 ? axis + rank : axis;
    return CLF_OK;
}

/* The axes that masks refer to; -1 where x has no such axis. */
typedef struct mask_axes {
    int key, batch, query;
} mask_axes;

static clf_status find_axes(const clf_softmax_params *params, int rank, mask_axes *out)
{
    if (rank == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_AXIS: softmax x has rank 0: expected an axis to sum over");
    mask_axes axes = {0};
    CLF_TRY(find_axis("axis", params->axis, rank, &axes.key));
    CLF_TRY(find_axis("batch axis", params->batch_axis, rank, &axes.batch));
    if (params->query_axis == CLF_AXIS_NONE)
        axes.query = axes.key == rank - 1 ? rank - 2 : rank - 1;
    else
        CLF_TRY(find_axis("query axis", params->query_axis, rank, &axes.query));
    *out = axes;
    return CLF_OK;
}

static clf_status check_mask(const char *what, const clf_view *view, clf_dtype dtype, int rank, int other_rank)
{
    char shape[CLFI_SHAPE_TEXT_BYTES];
    if (view->dtype != dtype)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: softmax %s is %s, expected %s", what, clf_dtype_name(view->dtype), clf_dtype_name(dtype));
    if (view->rank != rank && view->rank != other_rank)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: softmax %s is %s, expected rank %d", what, clfi_shape_text(view->rank, view->dim, shape), rank);
    return CLF_OK;
}

/* A mask of x's own rank. */
static clf_status bind_full(clf_context *context, const char *what, const clf_tensor *tensor, clf_dtype dtype, const clf_view *x,
                            clf_view *storage, const clf_view **out)
{
    int map[CLF_MAX_RANK];
    if (!tensor)
        return CLF_OK;
    CLF_TRY(clfi_tensor_check(context, what, tensor));
    const clf_view *view = clfi_tensor_view(tensor);
    CLF_TRY(check_mask(what, view, dtype, x->rank, x->rank));
    for (int i = 0; i < x->rank; i++)
        map[i] = i;
    CLF_TRY(clfi_view_broadcast(what, view, x, map, storage));
    *out = storage;
    return CLF_OK;
}

/* A mask of two axes, which stand for axes `row` and `column` of x; of rank 1 where `column` alone may be missing (lengths [B]: column is -1). */
static clf_status bind_pair(clf_context *context, const char *what, const clf_tensor *tensor, clf_dtype dtype, const clf_view *x, int row,
                            int column, clf_view *storage, const clf_view **out)
{
    int map[CLF_MAX_RANK];
    if (!tensor)
        return CLF_OK;
    CLF_TRY(clfi_tensor_check(context, what, tensor));
    const clf_view *view = clfi_tensor_view(tensor);
    CLF_TRY(check_mask(what, view, dtype, 2, dtype == CLF_I32 ? 1 : 2));
    if (row < 0 || column < 0 || row == column)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_AXIS: softmax %s: its axes fall on axes %d and %d of x", what, row, column);
    for (int i = 0; i < x->rank; i++)
        map[i] = i == row ? 0 : i == column && view->rank == 2 ? 1 : -1;
    CLF_TRY(clfi_view_broadcast(what, view, x, map, storage));
    *out = storage;
    return CLF_OK;
}

static clf_status check_float(const char *what, const clf_view *view)
{
    if (view->dtype != CLF_F32 && view->dtype != CLF_F16 && view->dtype != CLF_BF16)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: softmax %s is %s, expected float32, float16 or bfloat16", what, clf_dtype_name(view->dtype));
    return CLF_OK;
}

static clf_status check_shapes(const clf_view *x, const clf_view *y)
{
    char x_shape[CLFI_SHAPE_TEXT_BYTES], y_shape[CLFI_SHAPE_TEXT_BYTES];
    CLF_TRY(check_float("x", x));
    CLF_TRY(check_float("y", y));
    if (!clfi_view_same_shape(x, y))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: softmax y is %s, x is %s", clfi_shape_text(y->rank, y->dim, y_shape),
                 clfi_shape_text(x->rank, x->dim, x_shape));
    for (int i = 0; i < y->rank; i++)
        if (y->dim[i] > 1 && y->stride[i] == 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: softmax y repeats its elements along axis %d", i);
    return CLF_OK;
}

clf_status clf_softmax(clf_context *context, const clf_tensor *x_tensor, const clf_softmax_params *params, clf_tensor *y_tensor)
{
    static const clf_softmax_params defaults = CLF_SOFTMAX_PARAMS_INIT;
    const clf_softmax_params *p = params ? params : &defaults;
    clf_view mask, padding, attention, bias, lengths;
    clf_softmax_args args = CLFI_SOFTMAX_ARGS_INIT;
    mask_axes axes = {0};
    CLF_TRY(clfi_tensor_check(context, "softmax x", x_tensor));
    CLF_TRY(clfi_tensor_check(context, "softmax y", y_tensor));
    const clf_view *x = args.x = clfi_tensor_view(x_tensor);
    args.y = clfi_tensor_view(y_tensor);
    CLF_TRY(check_shapes(x, args.y));
    CLF_TRY(find_axes(p, x->rank, &axes));
    if ((unsigned)p->empty_rows > CLF_EMPTY_ROWS_UNIFORM)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "softmax: policy %d for empty rows is unknown", (int)p->empty_rows);
    if (p->is_causal && (axes.query < 0 || axes.query == axes.key))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_AXIS: softmax: a causal mask needs a query axis beside the key axis %d of x", axes.key);
    if (p->lengths && x->rank != 3)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: softmax with lengths: x has rank %d, expected 3", x->rank);
    if (p->lengths)
        CLF_TRY(clfi_lengths_check(context, "softmax", p->lengths, x->dim[axes.batch], x->dim[axes.query]));
    CLF_TRY(bind_full(context, "mask", p->mask, CLF_U8, x, &mask, &args.mask));
    CLF_TRY(bind_full(context, "bias", p->bias, CLF_F32, x, &bias, &args.bias));
    CLF_TRY(bind_pair(context, "padding mask", p->padding_mask, CLF_U8, x, axes.batch, axes.key, &padding, &args.padding));
    CLF_TRY(bind_pair(context, "attention mask", p->attention_mask, CLF_U8, x, axes.query, axes.key, &attention, &args.attention));
    CLF_TRY(bind_pair(context, "lengths", p->lengths, CLF_I32, x, axes.batch, axes.query, &lengths, &args.lengths));
    args.axis = axes.key;
    args.query_axis = p->is_causal ? axes.query : -1;
    args.causal_offset = p->causal_offset;
    args.scale = p->scale;
    args.empty_rows = p->empty_rows;
    return clfi_softmax(context, &args);
}

clf_status clf_masked_softmax(clf_context *context, const clf_tensor *x, const clf_tensor *lengths, clf_empty_rows empty_rows, clf_tensor *y)
{
    clf_softmax_params params = CLF_SOFTMAX_PARAMS_INIT;
    params.lengths = lengths;
    params.empty_rows = empty_rows;
    return clf_softmax(context, x, &params, y);
}
