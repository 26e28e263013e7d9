/* SPDX-License-Identifier: MIT */
/* Launcher of cl/multiply.cl. */
#ifndef CLFI_KERNEL_MULTIPLY_H
#define CLFI_KERNEL_MULTIPLY_H

#include "tensor/view.h"

/* y *= x, element by element; both f32, dense, of one size. Enqueued. */
clf_status clfi_multiply_launch(clf_context *context, const clf_view *x, const clf_view *y);

#endif
