/* SPDX-License-Identifier: MIT */
/* Launches log-softmax of rows (cl/cpu/log_softmax_vector.cl, cl/gpu/log_softmax_group.cl). */
#ifndef CLFI_KERNEL_LOG_SOFTMAX_H
#define CLFI_KERNEL_LOG_SOFTMAX_H

#include "tensor/view.h"

/* Checked by the op (op/log_softmax.h). */
typedef struct clf_log_softmax_args {
    const clf_view *x, *y; /* [R,V] f32 dense */
    const clf_view *shift; /* [R] f32, dense; NULL: none */
} clf_log_softmax_args;

/* args: a clf_log_softmax_args. */
bool clfi_log_softmax_vector_supports(const clf_context *context, const void *args);
clf_status clfi_log_softmax_vector(clf_context *context, const void *args);
bool clfi_log_softmax_group_supports(const clf_context *context, const void *args);
clf_status clfi_log_softmax_group(clf_context *context, const void *args);

#endif
