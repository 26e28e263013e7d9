/* SPDX-License-Identifier: MIT */
/* Computes attention weights on request. */
#include "nn/attention_weights.h"

#include "base/alloc.h"
#include "op/dense_attention.h"

/* Views query heads [H,M,N] as [G,H/G,M,N]: the heads that share a key head lie along one axis. Key heads [G,M,N] repeat along it. */
static clf_view by_key_head(const clf_view *heads, int64_t key_heads, int64_t group)
{
    const bool is_of_keys = heads->dim[0] == key_heads;
    return (clf_view){
        .buffer = heads->buffer,
        .dtype = heads->dtype,
        .rank = 4,
        .offset = heads->offset,
        .dim = {key_heads, group, heads->dim[1], heads->dim[2]},
        .stride = {heads->stride[0] * (is_of_keys ? 1 : group), is_of_keys ? 0 : heads->stride[0], heads->stride[1], heads->stride[2]}};
}

/* weights = softmax of scale q k^T under the masks, head by head; each key head serves a group of query heads. */
static clf_status grouped_weights(clf_context *context, float scale, const clf_view *q, const clf_view *k, const clf_dense_masks *masks,
                                  const clf_view *weights)
{
    const int64_t key_heads = k->dim[0], group = q->dim[0] / key_heads;
    const clf_view queries = by_key_head(q, key_heads, group), keys = by_key_head(k, key_heads, group),
                   out = by_key_head(weights, key_heads, group);
    const clf_dense_attention attention = {.q = &queries, .k = &keys, .masks = masks, .scale = scale, .weights = &out};
    return clfi_dense_weights(context, &attention);
}

clf_status clfi_source_weights(clf_context *context, float scale, const clf_view *q, const clf_view *k, const clf_view *weights)
{
    const clf_dense_masks masks = {.empty_rows = CLF_EMPTY_ROWS_ZERO};
    return grouped_weights(context, scale, q, k, &masks, weights);
}

/* Expands the stack's bias to a matrix [H,T,T], a temporary of the arena. Waits for the device. */
static clf_status spread_bias(clf_context *context, const clf_view *bias, int64_t tokens, clf_view *out)
{
    const int64_t heads = bias->dim[0], columns = bias->dim[1], reach = columns / 2;
    float *table = NULL, *matrix = NULL;
    clf_status st;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 3, (int64_t[]){heads, tokens, tokens}, out));
    CLF_GOTO(clfi_alloc((size_t)(heads * columns), sizeof *table, "bias", &table));
    CLF_GOTO(clfi_alloc((size_t)(heads * tokens * tokens), sizeof *matrix, "bias", &matrix));
    CLF_GOTO(clfi_buffer_read(bias->buffer, (size_t)bias->offset * sizeof *table, table, (size_t)(heads * columns) * sizeof *table));
    for (int64_t h = 0; h < heads; h++)
        for (int64_t i = 0; i < tokens; i++)
            for (int64_t j = 0; j < tokens; j++) {
                const int64_t distance = j - i < -reach ? -reach : j - i > reach ? reach : j - i;
                matrix[(h * tokens + i) * tokens + j] = table[h * columns + reach + distance];
            }
    st = clfi_buffer_write(out->buffer, (size_t)out->offset * sizeof *matrix, matrix, (size_t)(heads * tokens * tokens) * sizeof *matrix);
done:
    free(table);
    free(matrix);
    return st;
}

/* A mask [H,T,T] that is 1 for the keys inside the window, the same for all heads; a temporary of the arena. */
static clf_status spread_window(clf_context *context, int64_t window, int64_t heads, int64_t tokens, clf_view *out)
{
    uint8_t *keep;
    CLF_TRY(clfi_view_temporary(context, CLF_U8, 3, (int64_t[]){1, tokens, tokens}, out));
    CLF_TRY(clfi_alloc((size_t)(tokens * tokens), sizeof *keep, "window", &keep));
    for (int64_t i = 0; i < tokens; i++)
        for (int64_t j = 0; j < tokens; j++)
            keep[i * tokens + j] = (i > j ? i - j : j - i) < window;
    const clf_status st = clfi_buffer_write(out->buffer, (size_t)out->offset, keep, (size_t)(tokens * tokens));
    free(keep);
    out->dim[0] = heads;
    out->stride[0] = 0;
    return st;
}

clf_status clfi_attention_weights(clf_context *context, const clf_stack *stack, int64_t layer, const clf_view *q, const clf_view *k,
                                  bool is_causal, const clf_view *weights)
{
    const clf_attention_shape *shape = clfi_stack_attention(&stack->config, layer);
    const clf_arena_mark mark = clfi_arena_top(context);
    const int64_t key_heads = k->dim[0], group = q->dim[0] / key_heads;
    const clf_view *bias = clfi_stack_bias(stack);
    clf_dense_masks masks = {.is_causal = is_causal, .empty_rows = CLF_EMPTY_ROWS_ZERO};
    clf_view spread;
    clf_status st;
    if (bias) {
        CLF_GOTO(spread_bias(context, bias, q->dim[1], &spread));
        masks.bias = by_key_head(&spread, key_heads, group);
    }
    if (shape->window > 0) {
        CLF_GOTO(spread_window(context, shape->window, q->dim[0], q->dim[1], &spread));
        masks.mask = by_key_head(&spread, key_heads, group);
    }
    CLF_GOTO(grouped_weights(context, clfi_stack_scale(&stack->config, layer), q, k, &masks, weights));
done:
    clfi_arena_release(context, mark);
    return st;
}
