/* SPDX-License-Identifier: MIT */
/* Checks operands for several ops. */
#include "op/check.h"

#include <stdio.h>

clf_status clfi_check_float(const char *op, const char *what, const clf_view *view)
{
    if (!clfi_dtype_is_float(view->dtype))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: %s: %s is %s, expected float32, float16 or bfloat16", op, what,
                 clf_dtype_name(view->dtype));
    return CLF_OK;
}

clf_status clfi_check_dtype(const char *op, const char *what, const clf_view *view, clf_dtype dtype)
{
    if (view->dtype != dtype)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: %s: %s is %s, expected %s", op, what, clf_dtype_name(view->dtype), clf_dtype_name(dtype));
    return CLF_OK;
}

clf_status clfi_check_rank(const char *op, const char *what, const clf_view *view, int rank)
{
    char text[CLFI_SHAPE_TEXT_BYTES];
    if (view->rank != rank)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s: %s is %s, expected rank %d", op, what, clfi_shape_text(view->rank, view->dim, text),
                 rank);
    return CLF_OK;
}

clf_status clfi_check_same_shape(const char *op, const char *what, const clf_view *view, const char *other, const clf_view *reference)
{
    char have[CLFI_SHAPE_TEXT_BYTES], want[CLFI_SHAPE_TEXT_BYTES];
    if (!clfi_view_same_shape(view, reference))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s: %s is %s, expected the shape of %s, %s", op, what,
                 clfi_shape_text(view->rank, view->dim, have), other, clfi_shape_text(reference->rank, reference->dim, want));
    return CLF_OK;
}

clf_status clfi_check_adjacent(const char *op, const char *what, const clf_view *view)
{
    const int last = view->rank - 1;
    if (view->dim[last] > 1 && view->stride[last] != 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s: %s has a stride of %lld along its last axis, expected 1", op, what,
                 (long long)view->stride[last]);
    return CLF_OK;
}

clf_status clfi_check_writable(const char *op, const char *what, const clf_view *view)
{
    const int axis = clfi_view_repeated_axis(view);
    if (axis >= 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s: %s has a stride of 0 along axis %d of %lld elements", op, what, axis,
                 (long long)view->dim[axis]);
    return CLF_OK;
}

clf_status clfi_check_tensor(const clf_context *context, const char *op, const char *what, const clf_tensor *tensor, const clf_view **out)
{
    char name[64];
    snprintf(name, sizeof name, "%s: %s", op, what);
    CLF_TRY(clfi_tensor_check(context, name, tensor));
    *out = clfi_tensor_view(tensor);
    return CLF_OK;
}

clf_status clfi_check_optional(const clf_context *context, const char *op, const char *what, const clf_tensor *tensor, const clf_view **out)
{
    *out = NULL;
    return tensor ? clfi_check_tensor(context, op, what, tensor, out) : CLF_OK;
}
