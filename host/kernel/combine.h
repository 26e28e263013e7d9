/* SPDX-License-Identifier: MIT */
/* Launches products, sums and soft caps of elements (cl/any/combine.cl, cl/any/soft_cap.cl). */
#ifndef CLFI_KERNEL_COMBINE_H
#define CLFI_KERNEL_COMBINE_H

#include "tensor/view.h"

/* y *= x and y += x, element by element; both f32, dense, of one size. Enqueued. */
clf_status clfi_multiply_launch(clf_context *context, const clf_view *x, const clf_view *y);
clf_status clfi_add_launch(clf_context *context, const clf_view *x, const clf_view *y);

/* y = cap tanh(y / cap), element by element; f32, dense. Enqueued. */
clf_status clfi_soft_cap_launch(clf_context *context, float cap, const clf_view *y);

#endif
