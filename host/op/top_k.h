/* SPDX-License-Identifier: MIT */
/* Finds the k largest elements of each row and their columns, for choosing tokens and for search. Engine table "top_k". */
#ifndef CLFI_OP_TOP_K_H
#define CLFI_OP_TOP_K_H

#include "kernel/top_k.h"

/* values[q,:] = the k largest of scores[q,:] in falling order, indices[q,:] their columns. Equal scores: lower index first (-0 equals 0 and
 * comes out as 0). NaN ranks below -infinity. scores [Q,N], f32, f16 or bf16, any strides; values f32 [Q,k] and indices i32 [Q,k], dense. 1
 * <= k <= 1024, k <= N < 2^31. Selection runs in rounds: blocks of a row keep k candidates each until one block is left; candidates live in
 * the context's arena. Exact; the result does not depend on engine or device. Enqueued. Q = 0: nothing to do. INVALID_ARGUMENT: shapes,
 * dtypes or k do not fit (N < k too). */
clf_status clfi_top_k(clf_context *context, const clf_view *scores, int k, const clf_view *values, const clf_view *indices);

#endif
