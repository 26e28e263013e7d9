/* SPDX-License-Identifier: MIT */
/* Root-mean-square normalisation, inside the library and as a public function. */
#include "op/rms_norm.h"

#include "base/options.h"
#include "clformer/ops.h"
#include "op/check.h"
#include "op/row_norm.h"

clf_status clfi_rms_norm(clf_context *context, const clf_view *x, const clf_view *residual, const clf_view *gamma, int axes, float eps,
                         const clf_view *y)
{
    const clf_row_norm args = {.kind = CLF_ROW_RMS_NORM, .x = x, .residual = residual, .gamma = gamma, .y = y, .axes = axes, .eps = eps};
    return clfi_row_norm_run(context, CLF_OP_RMS_NORM, &args);
}

CLFI_OPTIONS(clf_rms_norm_params, CLF_RMS_NORM_PARAMS_INIT)

clf_status clf_rms_norm(clf_context *context, const clf_tensor *x, const clf_rms_norm_params *params, clf_tensor *y)
{
    static const char op[] = "rms_norm";
    clf_rms_norm_params p;
    const clf_view *vx, *residual, *gamma, *vy;
    CLF_TRY(clf_rms_norm_params_read(params, &p));
    CLF_TRY(clfi_check_tensor(context, op, "x", x, &vx));
    CLF_TRY(clfi_check_optional(context, op, "residual", p.residual, &residual));
    CLF_TRY(clfi_check_optional(context, op, "gamma", p.gamma, &gamma));
    CLF_TRY(clfi_check_tensor(context, op, "y", y, &vy));
    return clfi_rms_norm(context, vx, residual, gamma, p.axes, p.eps, vy);
}
