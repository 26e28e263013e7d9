/* SPDX-License-Identifier: MIT */
/* Launches the sums of exponentials of rows, which samplers need (cl/any/exp_sum.cl). */
#ifndef CLFI_KERNEL_EXP_SUM_H
#define CLFI_KERNEL_EXP_SUM_H

#include "tensor/view.h"

/* y[r] = sum_j exp(scale[r] * (x[r,j] - max_k x[r,k])), NaN where row r has an element that is not finite. x [n,C], y [n], scale [n]:
 * f32 and dense. scale NULL: rows are only checked, and y[r] is 0 or NaN. Relative error below 1e-5. Enqueued. */
clf_status clfi_exp_sum_launch(clf_context *context, const clf_view *x, const clf_view *scale, const clf_view *y);

#endif
