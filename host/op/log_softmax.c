/* SPDX-License-Identifier: MIT */
/* Checks the operands of log-softmax and runs an engine. */
#include "op/log_softmax.h"

#include "op/engines.h"

static clf_status check(const char *name, const clf_view *view, int rank, const int64_t *dim)
{
    char have[CLFI_SHAPE_TEXT_BYTES], want[CLFI_SHAPE_TEXT_BYTES];
    if (view->dtype != CLF_F32)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: log-softmax: %s is %s, expected float32", name, clf_dtype_name(view->dtype));
    bool fits = view->rank == rank && clfi_view_is_dense(view);
    for (int i = 0; fits && i < rank; i++)
        fits = view->dim[i] == dim[i];
    if (!fits)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: log-softmax: %s is %s, expected %s, dense", name,
                 clfi_shape_text(view->rank, view->dim, have), clfi_shape_text(rank, dim, want));
    return CLF_OK;
}

clf_status clfi_log_softmax(clf_context *context, const clf_view *x, const clf_view *shift, const clf_view *y)
{
    CLF_TRY(check("x", x, 2, x->dim));
    CLF_TRY(check("y", y, 2, x->dim));
    if (shift)
        CLF_TRY(check("shift", shift, 1, x->dim));
    if (x->dim[1] < 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: log-softmax: rows are empty");
    if (x->dim[0] == 0)
        return CLF_OK;
    const clf_log_softmax_args args = {x, y, shift};
    return clfi_engine_run(context, CLF_OP_LOG_SOFTMAX, &args);
}
