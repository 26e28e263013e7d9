/* SPDX-License-Identifier: MIT */
/* Launches the attention of decoding, with cached keys and values (cl/cpu/cached_attention_vector.cl, cl/gpu/cached_attention_group.cl). */
#ifndef CLFI_KERNEL_CACHED_ATTENTION_H
#define CLFI_KERNEL_CACHED_ATTENTION_H

#include "tensor/view.h"

/* Checked by the op (op/cached_attention.h). */
typedef struct clf_cached_attention_args {
    const clf_view *q;      /* [H,N,D] f32 */
    const clf_view *k, *v;  /* [G,R,D], both f32 or both f16, or u8 [G,R,clfi_kv_row]: rows of a cache (kernel/kv_cache.h); G divides H:
                             * query head h uses key head h / (H / G) */
    const clf_view *rows;   /* i32 [N,>=keys]: cache row of key j of query n */
    const clf_view *counts; /* i32 [N], adjacent: keys of query n */
    int64_t keys;           /* at least the largest of `counts` */
    const clf_view *out;    /* [N,H,D] f32 */
    float scale;
    int32_t window;       /* above 0: only the last `window` of a query's keys; 0: all */
    float soft_cap;       /* above 0: scores s become cap tanh(s / cap); 0: they stay */
    const clf_view *bias; /* f32 [H,2R+1]: bias[h,R+j-i] is added to the score of key j, where i is the query's last key, the query itself.
                             * Keys farther away than R get bias[h,0]. NULL: none */
} clf_cached_attention_args;

/* args: a clf_cached_attention_args. */
bool clfi_cached_attention_vector_supports(const clf_context *context, const void *args);
clf_status clfi_cached_attention_vector(clf_context *context, const void *args);
bool clfi_cached_attention_group_supports(const clf_context *context, const void *args);
clf_status clfi_cached_attention_group(clf_context *context, const void *args);

#endif
