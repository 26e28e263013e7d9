/* SPDX-License-Identifier: MIT */
/* Pooling of token vectors to one vector per sequence (Reimers & Gurevych 2019), and L2 normalisation. Engine tables "pool",
 * "l2_normalize". */
#ifndef CLFI_OP_POOLING_H
#define CLFI_OP_POOLING_H

#include "clformer/ops.h"
#include "tensor/view.h"

/* Sequence i owns the tokens offsets[i] <= t < offsets[i+1] of x:
 *   MEAN           y[i,c] = sum_t x[t,c] / len
 *   CLS            y[i,c] = x[offsets[i],c]
 *   MAX            y[i,c] = max_t x[t,c]
 *   MEAN_SQRT_LEN  y[i,c] = sum_t x[t,c] / sqrt(len)
 *   LAST           y[i,c] = x[offsets[i+1] - 1,c]
 *   WEIGHTED_MEAN  y[i,c] = sum_t (t - offsets[i] + 1) x[t,c] / (len (len + 1) / 2)
 * x [T,C] and y [n,C], f32, f16 or bf16, columns adjacent, rows at any stride. offsets i32 [n+1], dense, on the device, not decreasing: the
 * caller has checked them. The kernel clamps them to 0..T, so that wrong ones never read outside x. An empty sequence gives zeros. NaN in a
 * column gives NaN there, for MAX too. Sums in f32 in two levels: relative to sum |x| the error is below (44 + len / 32) 2^-24. Enqueued.
 * INVALID_ARGUMENT: shapes, dtypes or mode do not fit. UNSUPPORTED: more tokens than the device's loops run over. */
clf_status clfi_pool(clf_context *context, clf_pooling mode, const clf_view *x, const clf_view *offsets, const clf_view *y);

/* clfi_pool without the first `skipped` tokens of each sequence (a prompt). WEIGHTED_MEAN keeps the weights of the others: sum_t (t -
 * offsets[i] + 1) x[t,c] / sum_t (t - offsets[i] + 1) over t >= offsets[i] + skipped. A sequence without further tokens gives zeros.
 * INVALID_ARGUMENT also: skipped below 0. */
clf_status clfi_pool_behind(clf_context *context, clf_pooling mode, const clf_view *x, const clf_view *offsets, int32_t skipped,
                            const clf_view *y);

/* y[i,:] = x[i,:] / max(|x[i,:]|, eps) with the Euclidean norm, as torch.nn.functional.normalize, for each row along the last axis of x.
 * Any strides; y may be x. Dtypes and statuses as for clfi_layer_norm. */
clf_status clfi_l2_normalize(clf_context *context, const clf_view *x, float eps, const clf_view *y);

#endif
