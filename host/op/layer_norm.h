/* SPDX-License-Identifier: MIT */
/* Layer normalisation (Ba, Kiros & Hinton 2016) of strided views, with an optional residual added first. Engine table "layer_norm". */
#ifndef CLFI_OP_LAYER_NORM_H
#define CLFI_OP_LAYER_NORM_H

#include "tensor/view.h"

/* s = x + residual; y = (s - mean(s)) / sqrt(var(s) + eps) * gamma + beta, mean and biased variance over the last `axes` axes together. x,
 * residual (NULL: none), y: same shape, any strides; y may be x or residual itself (any other overlap is undefined). gamma, beta (NULL: 1
 * and 0): the shape of the last `axes` axes. Each operand f32, f16 or bf16; f32 arithmetic with the corrected variance, so |error of y|
 * stays near 1e-7 |y| whatever the mean. A row of equal elements gives beta exactly; a row with a NaN or an infinity gives NaN in that row
 * only. No rows: nothing to do. Enqueued; allocates nothing. INVALID_ARGUMENT: shapes differ, axes outside 1..rank, no element to
 * normalise, eps negative or NaN, a dtype other than these. UNSUPPORTED: rows longer than 2^31 - 1 elements, or longer than the device's
 * loops. */
clf_status clfi_layer_norm(clf_context *context, const clf_view *x, const clf_view *residual, const clf_view *gamma, const clf_view *beta,
                           int axes, float eps, const clf_view *y);

#endif
