/* SPDX-License-Identifier: MIT */
/* Root-mean-square normalisation (Zhang & Sennrich 2019) of strided views, with an optional residual added first. Engine table
 * "rms_norm". */
#ifndef CLFI_OP_RMS_NORM_H
#define CLFI_OP_RMS_NORM_H

#include "tensor/view.h"

/* s = x + residual; y = s / sqrt(mean(s^2) + eps) * gamma over the last `axes` axes together. Operands, aliasing, dtypes and statuses as
 * for clfi_layer_norm. */
clf_status clfi_rms_norm(clf_context *context, const clf_view *x, const clf_view *residual, const clf_view *gamma, int axes, float eps,
                         const clf_view *y);

#endif
