/* SPDX-License-Identifier: MIT */
/* Launches activation functions (cl/any/activation_map.cl). */
#ifndef CLFI_KERNEL_ACTIVATION_H
#define CLFI_KERNEL_ACTIVATION_H

#include "clformer/activation.h"
#include "tensor/view.h"

/* Name of the activation's function in cl/shared/activation.cl, for example "activate_gelu". */
const char *clfi_activation_function(clf_activation activation);

/* y = f(x) for checked views of one shape, any strides. */
clf_status clfi_activation_launch(clf_context *context, clf_activation kind, const clf_view *x, const clf_view *y);

#endif
