/* SPDX-License-Identifier: MIT */
/* Attention of single queries to the keys of a cache, as each step of decoding computes it. Engine table "cached_attention". */
#ifndef CLFI_OP_CACHED_ATTENTION_H
#define CLFI_OP_CACHED_ATTENTION_H

#include "kernel/cached_attention.h"

/* out[n,h,:] = sum_j p_j v[g,row(n,j),:], p = softmax over count(n) - window <= j < count(n) of cap(scale q[h,n,:] . k[g,row(n,j),:] +
 * bias[h,R+j-(count(n)-1)]); g = h / (H / G), row(n,j) = rows[n,j], count(n) = counts[n].
 *
 * q, k, v, out: any strides, elements of a head adjacent. The tables live on the device, so the caller makes sure that every row lies
 * inside k and v and no count exceeds `keys`. No key gives zeros. f32 arithmetic; a NaN score makes its output row NaN. Enqueued;
 * temporaries come from the context's arena. INVALID_ARGUMENT ("E_SHAPE: ...", "E_DTYPE: ...", "E_VALUE: ..."): operands do not fit each
 * other, a negative window or soft cap. UNSUPPORTED: more keys than the device's loops run over. Source: Kwon et al. 2023 (attention over
 * rows found through a table); Milakov and Gimelshein 2018 (online softmax). */
clf_status clfi_cached_attention(clf_context *context, const clf_cached_attention_args *args);

#endif
