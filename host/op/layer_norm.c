/* SPDX-License-Identifier: MIT */
/* Layer normalisation. */
#include "op/layer_norm.h"

#include "op/row_norm.h"

clf_status clfi_layer_norm(clf_context *context, const clf_view *x, const clf_view *residual, const clf_view *gamma, const clf_view *beta,
                           int axes, float eps, const clf_view *y)
{
    const clf_row_norm args = {CLF_ROW_LAYER_NORM, x, residual, gamma, beta, y, axes, eps};
    return clfi_row_norm_run(context, "layer_norm", &args);
}
