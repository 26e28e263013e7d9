/* SPDX-License-Identifier: MIT */
/* Checks the operands of the row normalisations and runs an engine. */
#include "op/row_norm.h"

#include "op/check.h"

static clf_status check_affine(const char *op, const char *what, const clf_row_norm *args, const clf_view *v)
{
    char have[CLFI_SHAPE_TEXT_BYTES], want[CLFI_SHAPE_TEXT_BYTES];
    const clf_view *x = args->x;
    if (!v)
        return CLF_OK;
    CLF_TRY(clfi_check_float(op, what, v));
    bool fits = v->rank == args->axes;
    for (int i = 0; fits && i < v->rank; i++)
        fits = v->dim[i] == x->dim[x->rank - args->axes + i];
    if (!fits)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s: %s is %s, expected the last %d axes of x, %s", op, what,
                 clfi_shape_text(v->rank, v->dim, have), args->axes, clfi_shape_text(args->axes, x->dim + x->rank - args->axes, want));
    return CLF_OK;
}

static clf_status check(const char *op, const clf_row_norm *args)
{
    const clf_view *x = args->x;
    CLF_TRY(clfi_check_float(op, "x", x));
    CLF_TRY(clfi_check_float(op, "y", args->y));
    CLF_TRY(clfi_check_same_shape(op, "y", args->y, "x", x));
    CLF_TRY(clfi_check_writable(op, "y", args->y));
    if (args->residual) {
        CLF_TRY(clfi_check_float(op, "residual", args->residual));
        CLF_TRY(clfi_check_same_shape(op, "residual", args->residual, "x", x));
    }
    if (args->axes < 1 || args->axes > x->rank)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_AXIS: %s: %d axes to normalise, x has %d", op, args->axes, x->rank);
    int64_t length = 1;
    for (int i = x->rank - args->axes; i < x->rank; i++)
        length *= x->dim[i];
    if (length == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s: the normalised axes of x are empty", op);
    CLF_TRY(check_affine(op, "gamma", args, args->gamma));
    CLF_TRY(check_affine(op, "beta", args, args->beta));
    if (!(args->eps >= 0.0f))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: %s: eps is %g, expected 0 or more", op, (double)args->eps);
    return CLF_OK;
}

clf_status clfi_row_norm_run(clf_context *context, clf_op op, const clf_row_norm *args)
{
    CLF_TRY(check(clfi_engine_tables[op].op, args));
    if (clfi_view_count(args->x) == 0)
        return CLF_OK;
    return clfi_engine_run(context, op, args);
}
