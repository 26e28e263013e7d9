/* SPDX-License-Identifier: MIT */
/* Launches rotary position embedding (cl/any/rotary.cl). */
#ifndef CLFI_KERNEL_ROTARY_H
#define CLFI_KERNEL_ROTARY_H

#include "tensor/view.h"

enum { CLFI_ROTARY_FINE = 256 };

/* x [H,T,D] f32, unit last stride; positions i32 [T]; turns [FINE + coarse, pairs, 2] f32, dense: cosines and sines of the positions below
 * FINE, then of its multiples. Positions from FINE * coarse on count as the last. Enqueued. */
clf_status clfi_rotary_launch(clf_context *context, const clf_view *x, const clf_view *positions, const clf_view *turns,
                              bool is_interleaved);

#endif
