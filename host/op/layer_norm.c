/* SPDX-License-Identifier: MIT */
/* Layer normalisation, inside the library and as a public function. */
#include "op/layer_norm.h"

#include "base/options.h"
#include "clformer/ops.h"
#include "op/check.h"
#include "op/row_norm.h"

clf_status clfi_layer_norm(clf_context *context, const clf_view *x, const clf_view *residual, const clf_view *gamma, const clf_view *beta,
                           int axes, float eps, const clf_view *y)
{
    const clf_row_norm args = {
        .kind = CLF_ROW_LAYER_NORM, .x = x, .residual = residual, .gamma = gamma, .beta = beta, .y = y, .axes = axes, .eps = eps};
    return clfi_row_norm_run(context, CLF_OP_LAYER_NORM, &args);
}

CLFI_OPTIONS(clf_layer_norm_params, CLF_LAYER_NORM_PARAMS_INIT)

clf_status clf_layer_norm(clf_context *context, const clf_tensor *x, const clf_layer_norm_params *params, clf_tensor *y)
{
    static const char op[] = "layer_norm";
    clf_layer_norm_params p;
    const clf_view *vx, *residual, *gamma, *beta, *vy;
    CLF_TRY(clf_layer_norm_params_read(params, &p));
    CLF_TRY(clfi_check_tensor(context, op, "x", x, &vx));
    CLF_TRY(clfi_check_optional(context, op, "residual", p.residual, &residual));
    CLF_TRY(clfi_check_optional(context, op, "gamma", p.gamma, &gamma));
    CLF_TRY(clfi_check_optional(context, op, "beta", p.beta, &beta));
    CLF_TRY(clfi_check_tensor(context, op, "y", y, &vy));
    return clfi_layer_norm(context, vx, residual, gamma, beta, p.axes, p.eps, vy);
}
