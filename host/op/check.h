/* SPDX-License-Identifier: MIT */
/* Checks of operands that several ops make. A code, `op` and `what` open the message: "E_SHAPE: layer_norm: gamma is ...". */
#ifndef CLFI_OP_CHECK_H
#define CLFI_OP_CHECK_H

#include "tensor/view.h"

clf_status clfi_check_float(const char *op, const char *what, const clf_view *view); /* f32, f16 or bf16 */
clf_status clfi_check_dtype(const char *op, const char *what, const clf_view *view, clf_dtype dtype);
clf_status clfi_check_rank(const char *op, const char *what, const clf_view *view, int rank);
clf_status clfi_check_same_shape(const char *op, const char *what, const clf_view *view, const char *other, const clf_view *reference);

/* Elements of the last axis lie next to each other. */
clf_status clfi_check_adjacent(const char *op, const char *what, const clf_view *view);

/* No two elements lie at one place: an output's. */
clf_status clfi_check_writable(const char *op, const char *what, const clf_view *view);

/* Public operands: `out` is the view of a tensor of this context. Optional ones may be NULL and then give NULL. */
clf_status clfi_check_tensor(const clf_context *context, const char *op, const char *what, const clf_tensor *tensor, const clf_view **out);
clf_status clfi_check_optional(const clf_context *context, const char *op, const char *what, const clf_tensor *tensor,
                               const clf_view **out);

#endif
