/* SPDX-License-Identifier: MIT */
/* Log-softmax of rows. Engine table "log_softmax". */
#ifndef CLFI_OP_LOG_SOFTMAX_H
#define CLFI_OP_LOG_SOFTMAX_H

#include "kernel/log_softmax.h"

/* y[r,j] = x[r,j] - m_r - log(sum_j exp(x[r,j] - m_r)) + shift[r], m_r = largest of the row. x, y [R,V] f32, dense, V >= 1; y may be x.
 * shift [R] f32 dense, or NULL: 0. f32 arithmetic, absolute error <= (|x - m| + V/16 + 8) u to first order, u = 2^-24. A NaN or +inf in x
 * makes its row NaN. R = 0: nothing to do. Enqueued; allocates nothing. INVALID_ARGUMENT ("E_SHAPE: ...", "E_DTYPE: ..."). UNSUPPORTED:
 * rows are too long for the device's loops. */
clf_status clfi_log_softmax(clf_context *context, const clf_view *x, const clf_view *shift, const clf_view *y);

#endif
