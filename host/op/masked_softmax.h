/* SPDX-License-Identifier: MIT */
/* Masked softmax inside the library: on views, with masks in any broadcast form. */
#ifndef CLFI_OP_MASKED_SOFTMAX_H
#define CLFI_OP_MASKED_SOFTMAX_H

#include "kernel/softmax.h"

#define CLFI_SOFTMAX_ARGS_INIT {.axis = 0, .query_axis = -1, .scale = 1.0f}

/* See clf_softmax. The caller has checked the arguments. Engine table "softmax". Enqueued; allocates nothing. UNSUPPORTED: no engine can
 * run it. */
clf_status clfi_softmax(clf_context *context, const clf_softmax_args *args);

#endif
