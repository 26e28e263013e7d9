/* SPDX-License-Identifier: MIT */
/* Launches the storing of new tokens' keys and values in a cache (cl/any/kv_cache.cl). */
#ifndef CLFI_KERNEL_KV_CACHE_H
#define CLFI_KERNEL_KV_CACHE_H

#include "tensor/view.h"

/* A cache's element type is f32, f16 or u8. u8 stands for q8_0: a head's row is D signed bytes q, then a half d for each 32 of them, and
 * stands for the numbers q d. */
enum { CLFI_KV_BLOCK = 32 };

/* Elements of a head's row of `size` numbers; 0: the type has no such rows, because it is u8 and whole blocks do not make `size`. */
int64_t clfi_kv_row(clf_dtype dtype, int64_t size);

/* cache[h][row][0] = k[h,n,:], cache[h][row][1] = v[h,n,:], row = rows[n] (i32 [N]). k, v f32 [H,N,D], elements of a head adjacent. cache
 * is a dense array [H][capacity][2][clfi_kv_row] of `dtype`. The caller makes sure that it has these rows. N = 0: nothing to do. Enqueued.
 *
 * f16 rounds to nearest even. A block of 32 of q8_0, whose largest magnitude is m, errs by at most m (1 + 2^-9) / 254 + 2^-24 in each
 * number. All its numbers become NaN where one is not finite or m exceeds 127 x 65504. */
clf_status clfi_kv_cache_launch(clf_context *context, const clf_view *k, const clf_view *v, const clf_buffer *cache, clf_dtype dtype,
                                int64_t capacity, const clf_view *rows);

#endif
