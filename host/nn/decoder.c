/* SPDX-License-Identifier: MIT */
/* Decoder passes: whole prefixes, and single steps with a cache. */
#include "nn/decoder.h"

#include "nn/attention_weights.h"
#include "op/cached_attention.h"

clf_view clfi_decoder_memory_view(const clf_decoder *decoder, const clf_decoder_memory *memory, int64_t layer, int part)
{
    const clf_attention_shape *shape = &decoder->config.attention;
    const int64_t heads = shape->key_heads, size = shape->head_size, dim[3] = {heads, memory->rows, size};
    return clfi_view_dense(memory->buffer, CLF_F32, (2 * layer + part) * heads * memory->rows * size, 3, dim);
}

clf_status clfi_decoder_memory_reserve(clf_context *context, const clf_decoder *decoder, int64_t rows, clf_decoder_memory *memory)
{
    size_t count;
    clf_buffer *buffer;
    const int64_t dim[4] = {decoder->layer_count, 2, rows, decoder->config.attention.key_heads * decoder->config.attention.head_size};
    CLF_TRY(clfi_shape_count("memory", CLF_F32, 4, dim, &count));
    if (!memory->buffer || memory->buffer->size_bytes < count * sizeof(float)) {
        CLF_TRY(clfi_buffer_create(context, count * sizeof(float), &buffer));
        clfi_buffer_release(memory->buffer);
        memory->buffer = buffer;
    }
    memory->rows = rows;
    return CLF_OK;
}

clf_status clfi_decoder_memory_project(clf_context *context, const clf_decoder *decoder, const clf_view *outputs,
                                       clf_decoder_memory *memory)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_gemm_input input = {0};
    clf_status st = CLF_OK;
    for (int64_t i = 0; st == CLF_OK && outputs->dim[0] > 0 && i < decoder->layer_count; i++) {
        clf_view kv = clfi_decoder_memory_view(decoder, memory, i, 0);
        kv.dim[0] *= 2; /* keys and values of all heads */
        st = clfi_linear_run_shared(context, decoder->layers[i].source_kv, outputs, CLF_ACTIVATION_NONE, NULL, &kv, &input);
    }
    clfi_arena_release(context, mark);
    return st;
}

clf_status clfi_decoder_source_store(clf_context *context, const clf_decoder *decoder, const clf_view *outputs, const clf_kv_cache *cache,
                                     const clf_view *rows)
{
    const clf_attention_shape *shape = &decoder->config.attention;
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_gemm_input input = {0};
    clf_view kv;
    clf_status st;
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 3, (int64_t[]){2 * shape->key_heads, outputs->dim[0], shape->head_size}, &kv));
    clf_view k = kv, v = kv;
    k.dim[0] = v.dim[0] = shape->key_heads;
    v.offset += shape->key_heads * kv.stride[0];
    for (int64_t i = 0; i < decoder->layer_count; i++) {
        CLF_GOTO(clfi_linear_run_shared(context, decoder->layers[i].source_kv, outputs, CLF_ACTIVATION_NONE, NULL, &kv, &input));
        CLF_GOTO(clfi_kv_cache_store(cache, i, &k, &v, rows));
    }
done:
    clfi_arena_release(context, mark);
    return st;
}

void clfi_decoder_memory_release(clf_decoder_memory *memory)
{
    clfi_buffer_release(memory->buffer);
    *memory = (clf_decoder_memory){.buffer = NULL};
}

/* A whole prefix, and where the attention weights of `layer` go; one of the two outputs is NULL. */
typedef struct prefix_pass {
    const clf_decoder_memory *memory;
    const clf_attention_batch *target, *source;
    int64_t layer;
    const clf_view *self_weights, *source_weights;
} prefix_pass;

static clf_status prefix_self(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                              const clf_view *k, const clf_view *v, const clf_view *out)
{
    const prefix_pass *prefix = pass->user;
    if (prefix->self_weights && layer == prefix->layer)
        CLF_TRY(clfi_attention_weights(context, stack, layer, q, k, true, prefix->self_weights));
    const clf_attention_args args = {.batch = prefix->target,
                                     .q = q,
                                     .k = k,
                                     .v = v,
                                     .out = out,
                                     .scale = clfi_stack_scale(&stack->config, layer),
                                     .bias = clfi_stack_bias(stack),
                                     .window = clfi_stack_attention(&stack->config, layer)->window,
                                     .is_causal = true,
                                     .empty_rows = CLF_EMPTY_ROWS_ZERO};
    return clfi_attention(context, &args);
}

static clf_status prefix_source(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                                const clf_view *out)
{
    const prefix_pass *prefix = pass->user;
    const clf_view k = clfi_decoder_memory_view(stack, prefix->memory, layer, 0);
    const clf_view v = clfi_decoder_memory_view(stack, prefix->memory, layer, 1);
    if (prefix->source_weights && layer == prefix->layer)
        CLF_TRY(clfi_source_weights(context, clfi_stack_scale(&stack->config, layer), q, &k, prefix->source_weights));
    const clf_attention_args args = {.batch = prefix->source,
                                     .q = q,
                                     .k = &k,
                                     .v = &v,
                                     .out = out,
                                     .scale = clfi_stack_scale(&stack->config, layer),
                                     .empty_rows = CLF_EMPTY_ROWS_ZERO};
    return clfi_attention(context, &args);
}

clf_status clfi_decoder_weights(clf_context *context, const clf_decoder *decoder, const clf_decoder_memory *memory,
                                const clf_attention_batch *target, const clf_attention_batch *source, const clf_view *positions,
                                int64_t layer, bool to_source, const clf_view *x, const clf_view *weights)
{
    const prefix_pass prefix = {.memory = memory,
                                .target = target,
                                .source = source,
                                .layer = layer,
                                .self_weights = to_source ? NULL : weights,
                                .source_weights = to_source ? weights : NULL};
    const clf_layer_pass pass = {prefix_self, prefix_source, &prefix, positions};
    clf_stack part;
    CLF_TRY(clfi_stack_up_to(decoder, "decoder", layer, &part));
    return clfi_stack_forward(context, &part, &pass, x);
}

static clf_status step_self(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                            const clf_view *k, const clf_view *v, const clf_view *out)
{
    const clf_decoder_step *step = pass->user;
    const clf_attention_shape *shape = clfi_stack_attention(&stack->config, layer);
    CLF_TRY(clfi_kv_cache_store(step->cache, layer, k, v, step->stored));
    const clf_view keys = clfi_kv_cache_view(step->cache, layer, 0), values = clfi_kv_cache_view(step->cache, layer, 1);
    const clf_cached_attention_args args = {.q = q,
                                            .k = &keys,
                                            .v = &values,
                                            .rows = step->rows,
                                            .counts = step->counts,
                                            .keys = step->keys,
                                            .out = out,
                                            .scale = clfi_stack_scale(&stack->config, layer),
                                            .window = shape->window,
                                            .soft_cap = shape->soft_cap,
                                            .bias = clfi_stack_bias(stack)};
    return clfi_cached_attention(context, &args);
}

static clf_status step_source(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                              const clf_view *out)
{
    const clf_decoder_step *step = pass->user;
    const clf_view keys = clfi_kv_cache_view(step->cache, layer, 0), values = clfi_kv_cache_view(step->cache, layer, 1);
    const clf_cached_attention_args args = {.q = q,
                                            .k = &keys,
                                            .v = &values,
                                            .rows = step->source_rows,
                                            .counts = step->source_counts,
                                            .keys = step->source_keys,
                                            .out = out,
                                            .scale = clfi_stack_scale(&stack->config, layer)};
    return clfi_cached_attention(context, &args);
}

clf_status clfi_decoder_step(clf_context *context, const clf_decoder *decoder, const clf_decoder_step *step, const clf_view *x)
{
    const clf_layer_pass pass = {step_self, step_source, step, step->positions};
    return clfi_stack_forward(context, decoder, &pass, x);
}
