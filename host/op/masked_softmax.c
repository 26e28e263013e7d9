/* SPDX-License-Identifier: MIT */
/* Checks the operands of masked softmax, brings masks to the shape of x, and runs an engine. */
#include "op/masked_softmax.h"

#include "base/options.h"
#include "op/check.h"
#include "op/engines.h"
#include "op/mask.h"

enum { MOST_OFFSET = INT32_MAX }; /* beyond every shape, so that no sum with an index wraps around */

clf_status clfi_softmax(clf_context *context, const clf_softmax_args *args)
{
    if (clfi_view_count(args->x) == 0)
        return CLF_OK;
    return clfi_engine_run(context, CLF_OP_SOFTMAX, args);
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

/* A mask of x's own rank; sizes of 1 are repeated. */
static clf_status bind_full(clf_context *context, const char *name, clf_dtype dtype, const clf_tensor *tensor, const clf_view *x,
                            clf_view *out)
{
    clf_mask_form form = {name, dtype, x->rank, {0}, CLFI_MASK_REPEATS};
    for (int i = 0; i < x->rank; i++)
        form.map[i] = i;
    return clfi_mask_bind(context, "softmax", &form, tensor, x, out);
}

/* A mask of two axes, which stand for axes `row` and `column` of x. */
static clf_status bind_pair(clf_context *context, const char *name, const clf_tensor *tensor, const clf_view *x, int row, int column,
                            clf_view *out)
{
    clf_mask_form form = {name, CLF_U8, 2, {0}, 0};
    if (tensor && (row < 0 || column < 0 || row == column))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_AXIS: softmax %s: its axes fall on axes %d and %d of x", name, row, column);
    for (int i = 0; i < x->rank; i++)
        form.map[i] = i == row ? 0 : i == column ? 1 : -1;
    return clfi_mask_bind(context, "softmax", &form, tensor, x, out);
}

static clf_status check_shapes(const clf_view *x, const clf_view *y)
{
    char x_shape[CLFI_SHAPE_TEXT_BYTES], y_shape[CLFI_SHAPE_TEXT_BYTES];
    CLF_TRY(clfi_check_float("softmax", "x", x));
    CLF_TRY(clfi_check_float("softmax", "y", y));
    if (!clfi_view_same_shape(x, y))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: softmax y is %s, x is %s", clfi_shape_text(y->rank, y->dim, y_shape),
                 clfi_shape_text(x->rank, x->dim, x_shape));
    return clfi_check_writable("softmax", "y", y);
}

CLFI_OPTIONS(clf_softmax_params, CLF_SOFTMAX_PARAMS_INIT)

clf_status clf_softmax(clf_context *context, const clf_tensor *x_tensor, const clf_softmax_params *params, clf_tensor *y_tensor)
{
    clf_softmax_params own;
    const clf_softmax_params *p = &own;
    clf_attention_masks masks;
    clf_view mask, padding, attention, bias, lengths;
    clf_softmax_args args = CLFI_SOFTMAX_ARGS_INIT;
    mask_axes axes = {0};
    CLF_TRY(clf_softmax_params_read(params, &own));
    CLF_TRY(clfi_tensor_check(context, "softmax x", x_tensor));
    CLF_TRY(clfi_tensor_check(context, "softmax y", y_tensor));
    const clf_view *x = args.x = clfi_tensor_view(x_tensor);
    args.y = clfi_tensor_view(y_tensor);
    CLF_TRY(check_shapes(x, args.y));
    CLF_TRY(find_axes(p, x->rank, &axes));
    CLF_TRY(clfi_masks_read("softmax", p->masks, &masks));
    if (masks.is_causal && (axes.query < 0 || axes.query == axes.key))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_AXIS: softmax: a causal mask needs a query axis beside the key axis %d of x", axes.key);
    if (p->lengths && x->rank != 3)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: softmax with lengths: x has rank %d, expected 3", x->rank);
    if (p->lengths && (axes.batch == axes.query || axes.batch == axes.key || axes.query == axes.key))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_AXIS: softmax lengths: its axes fall on axes %d and %d of x, the keys on %d", axes.batch,
                 axes.query, axes.key);
    CLF_TRY(clfi_lengths_bind(context, "softmax", p->lengths, x, axes.batch, axes.query, &lengths));
    CLF_TRY(bind_full(context, "mask", CLF_U8, masks.mask, x, &mask));
    CLF_TRY(bind_full(context, "bias", CLF_F32, p->bias, x, &bias));
    CLF_TRY(bind_pair(context, "padding mask", masks.padding_mask, x, axes.batch, axes.key, &padding));
    CLF_TRY(bind_pair(context, "attention mask", masks.attention_mask, x, axes.query, axes.key, &attention));
    args.lengths = clfi_mask_given(&lengths);
    args.mask = clfi_mask_given(&mask);
    args.bias = clfi_mask_given(&bias);
    args.padding = clfi_mask_given(&padding);
    args.attention = clfi_mask_given(&attention);
    args.axis = axes.key;
    args.query_axis = masks.is_causal ? axes.query : -1;
    args.causal_offset = p->causal_offset < -MOST_OFFSET ? -MOST_OFFSET : p->causal_offset > MOST_OFFSET ? MOST_OFFSET : p->causal_offset;
    args.scale = p->scale;
    args.empty_rows = masks.empty_rows;
    return clfi_softmax(context, &args);
}

clf_status clf_masked_softmax(clf_context *context, const clf_tensor *x, const clf_tensor *lengths, clf_empty_rows empty_rows,
                              clf_tensor *y)
{
    const clf_attention_masks masks = {.size = sizeof masks, .empty_rows = empty_rows};
    clf_softmax_params params = CLF_SOFTMAX_PARAMS_INIT;
    params.lengths = lengths;
    params.masks = &masks;
    return clf_softmax(context, x, &params, y);
}
