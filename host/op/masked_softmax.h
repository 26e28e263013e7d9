/* SPDX-License-Identifier: MIT */
/* Masked softmax inside the library: on views, with masks in any broadcast form. */
#ifndef CLFI_OP_MASKED_SOFTMAX_H
#define CLFI_OP_MASKED_SOFTMAX_H

#include "kernel/softmax.h"

#define CLFI_SOFTMAX_ARGS_INIT {.axis = 0, .query_axis = -1, .scale = 1.0f}

/* See clf_softmax; the arguments are checked by the caller except for overlap-free shapes. Engine table "softmax". Enqueued; allocates nothing. */
clf_status clfi_softmax(clf_context *context, const clf_softmax_args *args);

/* A view with the rank and sizes of `like` whose axis a is axis map[a] of `view`, repeated (stride 0) where map[a] is -1 or the view's size is 1.
 * INVALID_ARGUMENT ("E_SHAPE: what ..."): a size that is neither 1 nor that of `like`. */
clf_status clfi_view_broadcast(const char *what, const clf_view *view, const clf_view *like, const int *map, clf_view *out);

/* Valid lengths are int32 [batch] or [batch,queries]; they are never repeated, a size of 1 is one like any other.
 * INVALID_ARGUMENT ("E_DTYPE: op lengths ...", "E_SHAPE"). */
clf_status clfi_lengths_check(clf_context *context, const char *op, const clf_tensor *lengths, int64_t batch, int64_t queries);

#endif
