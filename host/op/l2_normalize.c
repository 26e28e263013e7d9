/* SPDX-License-Identifier: MIT */
/* Normalises rows to an L2 norm of 1, inside the library and as a public function. */
#include "clformer/ops.h"
#include "op/check.h"
#include "op/pooling.h"
#include "op/row_norm.h"

clf_status clfi_l2_normalize(clf_context *context, const clf_view *x, float eps, const clf_view *y)
{
    const clf_row_norm args = {.kind = CLF_ROW_L2_NORMALIZE, .x = x, .y = y, .axes = 1, .eps = eps};
    return clfi_row_norm_run(context, CLF_OP_L2_NORMALIZE, &args);
}

clf_status clf_l2_normalize(clf_context *context, const clf_tensor *x, float eps, clf_tensor *y)
{
    static const char op[] = "l2_normalize";
    const clf_view *vx, *vy;
    CLF_TRY(clfi_check_tensor(context, op, "x", x, &vx));
    CLF_TRY(clfi_check_tensor(context, op, "y", y, &vy));
    return clfi_l2_normalize(context, vx, eps, vy);
}
