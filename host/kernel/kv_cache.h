/* SPDX-License-Identifier: MIT */
/* Launcher of cl/kv_cache.cl. */
#ifndef CLFI_KERNEL_KV_CACHE_H
#define CLFI_KERNEL_KV_CACHE_H

#include "tensor/view.h"

/* cache[row0 + n][0][h,:] = k[h,n,:], cache[row0 + n][1][h,:] = v[h,n,:]. k, v [H,N,D] f32, elements of a head adjacent; cache is a dense array
 * [rows][2][H][D] f32 with rows >= row0 + N (the caller's duty). N = 0: nothing to do. Enqueued. */
clf_status clfi_kv_cache_launch(clf_context *context, const clf_view *k, const clf_view *v, const clf_buffer *cache, int64_t row0);

#endif
