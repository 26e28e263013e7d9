/* SPDX-License-Identifier: MIT */
/* Launches the search for rows with numbers that are not finite or not 0 (cl/any/row_check.cl). */
#ifndef CLFI_KERNEL_ROW_CHECK_H
#define CLFI_KERNEL_ROW_CHECK_H

#include "tensor/view.h"

enum { CLFI_ROW_NOT_FINITE = 1, CLFI_ROW_NOT_ZERO = 2 };

/* flags[i] = the bits above of row i of x [n,C], f32 and dense; flags i32 [n], dense. Enqueued. */
clf_status clfi_row_check_launch(clf_context *context, const clf_view *x, const clf_view *flags);

#endif
