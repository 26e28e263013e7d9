/* SPDX-License-Identifier: MIT */
/* Applies an activation to every element of a view. */
#ifndef CLFI_OP_ACTIVATION_H
#define CLFI_OP_ACTIVATION_H

#include "clformer/activation.h"
#include "tensor/view.h"

/* y = f(x); one shape, f32, f16 or bf16 each, any strides; y may be x. Enqueued. INVALID_ARGUMENT: unknown activation, shapes or dtypes do
 * not fit, y repeats elements. */
clf_status clfi_activation(clf_context *context, clf_activation kind, const clf_view *x, const clf_view *y);

#endif
