/* SPDX-License-Identifier: MIT */
/* Checks operands for several ops. All functions fail with INVALID_ARGUMENT. Messages begin with a code, `op` and `what`: "E_SHAPE:
 * layer_norm: gamma is ...". */
#ifndef CLFI_OP_CHECK_H
#define CLFI_OP_CHECK_H

#include "tensor/view.h"

clf_status clfi_check_float(const char *op, const char *what, const clf_view *view); /* f32, f16 or bf16 */
clf_status clfi_check_dtype(const char *op, const char *what, const clf_view *view, clf_dtype dtype);
clf_status clfi_check_rank(const char *op, const char *what, const clf_view *view, int rank);
clf_status clfi_check_same_shape(const char *op, const char *what, const clf_view *view, const char *other, const clf_view *reference);

/* Elements of the last axis lie next to each other. */
clf_status clfi_check_adjacent(const char *op, const char *what, const clf_view *view);

/* For outputs: no axis of more than one element has a stride of 0. */
clf_status clfi_check_writable(const char *op, const char *what, const clf_view *view);

/* Public operands: the tensor belongs to this context, *out is its view. An optional tensor may be NULL; *out is then NULL. */
clf_status clfi_check_tensor(const clf_context *context, const char *op, const char *what, const clf_tensor *tensor, const clf_view **out);
clf_status clfi_check_optional(const clf_context *context, const char *op, const char *what, const clf_tensor *tensor,
                               const clf_view **out);

#endif
