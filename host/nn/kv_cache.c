/* SPDX-License-Identifier: MIT */
/* Allocates, grows and fills the cache of keys and values. */
#include "nn/kv_cache.h"

#include "base/alloc.h"
#include "kernel/kv_cache.h"

/* Elements of one token's key and value in one head. */
static int64_t row_elements(const clf_kv_cache *cache)
{
    return 2 * clfi_kv_row(cache->dtype, cache->size);
}

static clf_status create_layer(const clf_kv_cache *cache, int64_t capacity, clf_kv_layer *out)
{
    size_t bytes;
    if (!clfi_mul_size((size_t)capacity, (size_t)(cache->heads * row_elements(cache)) * clf_dtype_bytes(cache->dtype), &bytes))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "E_OVERFLOW: a cache of %lld rows", (long long)capacity);
    out->capacity = capacity;
    return clfi_buffer_create(cache->context, bytes, &out->buffer);
}

clf_status clfi_kv_cache_init(clf_context *context, const clf_stack *stack, clf_dtype dtype, int64_t capacity, clf_kv_cache *cache)
{
    *cache = (clf_kv_cache){.context = context,
                            .heads = stack->config.attention.key_heads,
                            .size = stack->config.attention.head_size,
                            .capacity = capacity,
                            .dtype = dtype};
    clf_status st = clfi_alloc((size_t)stack->layer_count, sizeof *cache->layers, "key-value cache", &cache->layers);
    for (int64_t i = 0; st == CLF_OK && i < stack->layer_count; i++, cache->layer_count++)
        st = create_layer(cache, capacity, &cache->layers[i]);
    if (st != CLF_OK)
        clfi_kv_cache_clear(cache);
    return st;
}

void clfi_kv_cache_clear(clf_kv_cache *cache)
{
    for (int64_t i = 0; cache->layers && i < cache->layer_count; i++)
        clfi_buffer_release(cache->layers[i].buffer);
    free(cache->layers);
    *cache = (clf_kv_cache){.context = NULL};
}

/* Copies the rows of a layer to its larger memory, also during a rehearsal, because the rows outlive it. */
static clf_status move_rows(const clf_kv_cache *cache, const clf_kv_layer *layer, const clf_kv_layer *larger)
{
    const size_t row = (size_t)row_elements(cache) * clf_dtype_bytes(cache->dtype), bytes = (size_t)cache->rows * row;
    cl_int code = CL_SUCCESS;
    for (int64_t h = 0; code == CL_SUCCESS && h < cache->heads; h++)
        code = clEnqueueCopyBuffer(cache->context->queue, layer->buffer->memory, larger->buffer->memory,
                                   (size_t)(h * layer->capacity) * row, (size_t)(h * larger->capacity) * row, bytes, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        return clfi_context_fail(cache->context, code, CLF_DEVICE, "a cache's %zu bytes of a head: clEnqueueCopyBuffer", bytes);
    return CLF_OK;
}

/* Grows layer by layer, so a failure leaves a valid cache in which some layers are larger. */
static clf_status grow(clf_kv_cache *cache, int64_t capacity)
{
    for (int64_t i = 0; i < cache->layer_count; i++) {
        clf_kv_layer larger;
        CLF_TRY(create_layer(cache, capacity, &larger));
        const clf_status st = cache->rows ? move_rows(cache, &cache->layers[i], &larger) : CLF_OK;
        if (st != CLF_OK) {
            clfi_buffer_release(larger.buffer);
            return st;
        }
        clfi_buffer_release(cache->layers[i].buffer);
        cache->layers[i] = larger;
        cache->moves++;
    }
    cache->capacity = capacity;
    return CLF_OK;
}

clf_status clfi_kv_cache_reserve(clf_kv_cache *cache, int64_t rows)
{
    return rows > cache->capacity ? grow(cache, rows) : CLF_OK;
}

clf_status clfi_kv_cache_touch(const clf_kv_cache *cache)
{
    static const char zeros[1 << 16];
    for (int64_t i = 0; i < cache->layer_count; i++) {
        const size_t size = cache->layers[i].buffer->size_bytes;
        for (size_t at = 0; at < size; at += sizeof zeros)
            CLF_TRY(clfi_buffer_write(cache->layers[i].buffer, at, zeros, size - at < sizeof zeros ? size - at : sizeof zeros));
    }
    return CLF_OK;
}

clf_status clfi_kv_cache_add(clf_kv_cache *cache, int64_t count)
{
    const int64_t need = cache->rows + count;
    if (need > INT32_MAX)
        CLF_FAIL(CLF_UNSUPPORTED, "E_OVERFLOW: a cache of %lld rows, expected fewer than 2^31", (long long)need);
    if (need > cache->capacity) {
        const int64_t half_more = cache->capacity + cache->capacity / 2;
        clf_status st = grow(cache, need > half_more ? need : half_more);
        if (st == CLF_OUT_OF_MEMORY && need < half_more)
            st = grow(cache, need);
        CLF_TRY(st);
    }
    cache->rows = need;
    return CLF_OK;
}

clf_status clfi_kv_cache_store(const clf_kv_cache *cache, int64_t layer, const clf_view *k, const clf_view *v, const clf_view *rows)
{
    const clf_kv_layer *to = &cache->layers[layer];
    return clfi_kv_cache_launch(cache->context, k, v, to->buffer, cache->dtype, to->capacity, rows);
}

clf_view clfi_kv_cache_view(const clf_kv_cache *cache, int64_t layer, int part)
{
    const int64_t row = row_elements(cache);
    return (clf_view){.buffer = cache->layers[layer].buffer,
                      .dtype = cache->dtype,
                      .rank = 3,
                      .dim = {cache->heads, cache->rows, row / 2},
                      .stride = {cache->layers[layer].capacity * row, row, 1},
                      .offset = part * (row / 2)};
}
