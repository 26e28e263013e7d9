/* SPDX-License-Identifier: MIT */
/* Embedding lookup: rows of up to three tables gathered and added. Engine table "embedding". */
#ifndef CLFI_OP_EMBEDDING_H
#define CLFI_OP_EMBEDDING_H

#include "kernel/embedding.h"

/* y[t,c] = scale * table0[ids0[t],c] + table1[ids1[t],c] + table2[ids2[t],c] for `count` (1 to 3) terms (kernel/embedding.h); y [T,C],
 * columns adjacent, in f32, f16 or bf16. The ids live on the device, so the caller has checked 0 <= id < V on the host. The kernel clamps
 * them to that range: a wrong id gives a wrong row, never a read outside the table. Enqueued; a quantised table beside others needs
 * temporary memory of the context's arena. T = 0: nothing to do. INVALID_ARGUMENT: shapes or dtypes do not fit, a table without rows,
 * columns that are not adjacent. UNSUPPORTED: y is not dense f32 beside such a quantised table, or no engine takes such rows. */
clf_status clfi_embedding_sum(clf_context *context, const clf_embedding_term *terms, int count, float scale, const clf_view *y);

/* clfi_embedding_sum, then clfi_layer_norm of y over C in place; gamma, beta [C] or NULL. Statuses of both. */
clf_status clfi_embedding_layer_norm(clf_context *context, const clf_embedding_term *terms, int count, float scale, const clf_view *gamma,
                                     const clf_view *beta, float eps, const clf_view *y);

#endif
