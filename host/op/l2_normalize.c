/* SPDX-License-Identifier: MIT */
/* L2 normalisation of rows. */
#include "op/pooling.h"
#include "op/row_norm.h"

clf_status clfi_l2_normalize(clf_context *context, const clf_view *x, float eps, const clf_view *y)
{
    const clf_row_norm args = {CLF_ROW_L2_NORMALIZE, x, NULL, NULL, NULL, y, 1, eps};
    return clfi_row_norm_run(context, "l2_normalize", &args);
}
