/* SPDX-License-Identifier: MIT */
/* Launcher of cl/any/kv_cache.cl. */
#ifndef CLFI_KERNEL_KV_CACHE_H
#define CLFI_KERNEL_KV_CACHE_H

#include "tensor/view.h"

/* cache[h][row][0][:] = k[h,n,:], cache[h][row][1][:] = v[h,n,:], row = rows[n] (i32 [N]), or n where rows is NULL. k, v [H,N,D] of one
 * type, f32 or f16, elements of a head adjacent. cache is a dense array [H][capacity][2][D] of `dtype`, f32 or f16 (rounded to nearest
 * even). The caller makes sure that it has these rows. N = 0: nothing to do. Enqueued. */
clf_status clfi_kv_cache_launch(clf_context *context, const clf_view *k, const clf_view *v, const clf_buffer *cache, clf_dtype dtype,
                                int64_t capacity, const clf_view *rows);

#endif
