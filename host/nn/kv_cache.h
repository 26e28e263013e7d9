/* SPDX-License-Identifier: MIT */
/* Cache of the keys and values of decoded tokens: one row per token, in the order of decoding, for every layer. Which rows belong to which
 * sequence is a table of the caller's, so that sequences share prefixes without a row ever being moved. */
#ifndef CLFI_NN_KV_CACHE_H
#define CLFI_NN_KV_CACHE_H

#include "nn/layer.h"

/* Memory of a layer: [G][capacity][2][clfi_kv_row] (kernel/kv_cache.h), so that what a head reads lies in one piece. */
typedef struct clf_kv_layer {
    clf_buffer *buffer;
    int64_t capacity; /* rows */
} clf_kv_layer;

typedef struct clf_kv_cache {
    clf_context *context; /* borrowed: the buffers keep it alive */
    int64_t heads, size;  /* heads: of keys, G */
    int64_t rows;         /* in use so far */
    int64_t capacity;     /* rows that every layer has memory for */
    clf_dtype dtype;      /* f32, f16, or u8: q8_0 */
    clf_kv_layer *layers;
    int64_t layer_count;
    uint64_t moves; /* of layers to other memory */
} clf_kv_cache;

/* An empty cache for the stack's layers, of f32, f16, or u8 where the head size is a multiple of 32. Release with clfi_kv_cache_clear (a
 * zeroed struct is accepted). */
clf_status clfi_kv_cache_init(clf_context *context, const clf_stack *stack, clf_dtype dtype, int64_t capacity, clf_kv_cache *cache);
void clfi_kv_cache_clear(clf_kv_cache *cache);

/* `count` more rows: rows-count .. rows-1 afterwards. Grows the memory where it is too small, by half if there is that much; old rows
 * stay. */
clf_status clfi_kv_cache_add(clf_kv_cache *cache, int64_t count);

/* Memory for so many rows in all; rows that are there stay. */
clf_status clfi_kv_cache_reserve(clf_kv_cache *cache, int64_t rows);

/* Writes zeros to all memory of a cache that has no rows yet. */
clf_status clfi_kv_cache_touch(const clf_kv_cache *cache);

/* Stores k, v [G,count,D] f32 of tokens for a layer, in rows[n] (i32 [count]). Enqueued. */
clf_status clfi_kv_cache_store(const clf_kv_cache *cache, int64_t layer, const clf_view *k, const clf_view *v, const clf_view *rows);

/* Keys (part 0) or values (part 1) of all rows: [G,rows,clfi_kv_row]. */
clf_view clfi_kv_cache_view(const clf_kv_cache *cache, int64_t layer, int part);

#endif
