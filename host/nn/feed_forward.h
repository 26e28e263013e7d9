/* SPDX-License-Identifier: MIT */
/* Position-wise feed-forward network, plain or gated (Vaswani et al. 2017, section 3.3; gated: Shazeer 2020). */
#ifndef CLFI_NN_FEED_FORWARD_H
#define CLFI_NN_FEED_FORWARD_H

#include "op/linear.h"

/* Borrowed linears. */
typedef struct clf_feed_forward {
    const clf_linear *in;   /* W1 [F,C], b1 */
    const clf_linear *gate; /* Wg [F,C], bg; NULL: plain */
    const clf_linear *out;  /* W2 [C,F], b2 */
    clf_activation activation;
    clf_status (*visit)(const void *user, const clf_view *hidden); /* may change h [T,F], dense, before W2; NULL: none */
    const void *user;
} clf_feed_forward;

/* y = W2 h + b2 + residual, h = f(W1 x + b1), gated: h = f(W1 x + b1) * (Wg x + bg), element by element.
 * x [T,C], residual [T,C] or NULL, y [T,C], which overlaps neither; f32, rows evenly spaced. Temporary memory: T x F floats, or twice that
 * with a gate, and that of the linear layers. Enqueued. */
clf_status clfi_feed_forward_run(clf_context *context, const clf_feed_forward *network, const clf_view *x, const clf_view *residual,
                                 const clf_view *y);

#endif
