/* SPDX-License-Identifier: MIT */
/* Root-mean-square normalisation. */
#include "op/rms_norm.h"

#include "op/row_norm.h"

clf_status clfi_rms_norm(clf_context *context, const clf_view *x, const clf_view *residual, const clf_view *gamma, int axes, float eps,
                         const clf_view *y)
{
    const clf_row_norm args = {CLF_ROW_RMS_NORM, x, residual, gamma, NULL, y, axes, eps};
    return clfi_row_norm_run(context, "rms_norm", &args);
}
