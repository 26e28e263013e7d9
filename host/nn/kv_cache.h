/* SPDX-License-Identifier: MIT */
/* Cache of the keys and values of decoded tokens, with one row per token in every layer. The caller keeps a table of the rows of each
 * sequence, so sequences can share prefixes without copies. */
#ifndef CLFI_NN_KV_CACHE_H
#define CLFI_NN_KV_CACHE_H

#include "nn/layer.h"

/* Memory of a layer: [G][capacity][2][clfi_kv_row] (kernel/kv_cache.h). The keys and values of one head are contiguous. */
typedef struct clf_kv_layer {
    clf_buffer *buffer;
    int64_t capacity; /* rows */
} clf_kv_layer;

typedef struct clf_kv_cache {
    clf_context *context; /* borrowed: the buffers keep it alive */
    int64_t heads, size;  /* key heads (G) and head size (D) */
    int64_t rows;         /* in use so far */
    int64_t capacity;     /* rows that every layer has memory for */
    clf_dtype dtype;      /* f32, f16, or u8: q8_0 */
    clf_kv_layer *layers;
    int64_t layer_count;
    uint64_t moves; /* how often a layer got new memory */
} clf_kv_cache;

/* Makes an empty cache with memory for `capacity` rows. dtype: f32, f16, or u8 if the head size is a multiple of 32. Release it with
 * clfi_kv_cache_clear, which accepts a zeroed struct. OUT_OF_MEMORY. */
clf_status clfi_kv_cache_init(clf_context *context, const clf_stack *stack, clf_dtype dtype, int64_t capacity, clf_kv_cache *cache);
void clfi_kv_cache_clear(clf_kv_cache *cache);

/* Adds `count` rows, afterwards rows-count .. rows-1. If the memory is too small, it grows to at least 1.5 times its size, or to what is
 * needed if that fails. Old rows stay. UNSUPPORTED: 2^31 rows or more. OUT_OF_MEMORY, DEVICE. */
clf_status clfi_kv_cache_add(clf_kv_cache *cache, int64_t count);

/* Makes room for `rows` rows in all. Old rows stay. OUT_OF_MEMORY, DEVICE. */
clf_status clfi_kv_cache_reserve(clf_kv_cache *cache, int64_t rows);

/* Writes zeros to all memory of a cache that has no rows yet. */
clf_status clfi_kv_cache_touch(const clf_kv_cache *cache);

/* Stores k, v [G,count,D] f32 of tokens for a layer, in rows[n] (i32 [count]). Enqueued. */
clf_status clfi_kv_cache_store(const clf_kv_cache *cache, int64_t layer, const clf_view *k, const clf_view *v, const clf_view *rows);

/* Keys (part 0) or values (part 1) of all rows: [G,rows,clfi_kv_row]. */
clf_view clfi_kv_cache_view(const clf_kv_cache *cache, int64_t layer, int part);

#endif
