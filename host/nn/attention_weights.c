/* SPDX-License-Identifier: MIT */
/* Attention weights on request. */
#include "nn/attention_weights.h"

#include "base/alloc.h"
#include "op/gemm.h"
#include "op/masked_softmax.h"

/* weights = scale q k^T + residual, head by head; each key head serves a group of query heads. */
static clf_status scores(clf_context *context, float scale, const clf_view *q, const clf_view *k, const clf_view *residual,
                         const clf_view *weights)
{
    const int64_t group = q->dim[0] / k->dim[0];
    clf_gemm_args product = CLFI_GEMM_ARGS_INIT;
    product.batch_rank = group > 1 ? 2 : 1;
    product.batch[0] = k->dim[0];
    product.batch[1] = group;
    product.m = q->dim[1];
    product.n = k->dim[1];
    product.k = q->dim[2];
    product.a = (clf_gemm_operand){q->buffer, q->dtype, q->offset, q->stride[1], q->stride[2], {group * q->stride[0], q->stride[0]}};
    product.b = (clf_gemm_operand){k->buffer, k->dtype, k->offset, k->stride[2], k->stride[1], {k->stride[0], 0}};
    product.c = (clf_gemm_operand){weights->buffer,    weights->dtype,     weights->offset,
                                   weights->stride[1], weights->stride[2], {group * weights->stride[0], weights->stride[0]}};
    if (residual)
        product.residual = (clf_gemm_operand){residual->buffer,    residual->dtype,     residual->offset,
                                              residual->stride[1], residual->stride[2], {group * residual->stride[0], residual->stride[0]}};
    product.alpha = scale;
    return clfi_gemm(context, &product);
}

clf_status clfi_source_weights(clf_context *context, float scale, const clf_view *q, const clf_view *k, const clf_view *weights)
{
    clf_softmax_args softmax = CLFI_SOFTMAX_ARGS_INIT;
    CLF_TRY(scores(context, scale, q, k, NULL, weights));
    softmax.x = softmax.y = weights;
    softmax.axis = 2;
    return clfi_softmax(context, &softmax);
}

/* The stack's bias as a matrix [H,T,T], a temporary of the arena. */
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

/* 1 where a window leaves a key, [T,T] seen as [H,T,T]; a temporary of the arena. */
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
    const clf_view *bias = clfi_stack_bias(stack);
    clf_softmax_args softmax = CLFI_SOFTMAX_ARGS_INIT;
    clf_view residual, keep;
    clf_status st;
    if (bias)
        CLF_GOTO(spread_bias(context, bias, q->dim[1], &residual));
    if (shape->window > 0)
        CLF_GOTO(spread_window(context, shape->window, q->dim[0], q->dim[1], &keep));
    CLF_GOTO(scores(context, clfi_stack_scale(&stack->config, layer), q, k, bias ? &residual : NULL, weights));
    softmax.x = softmax.y = weights;
    softmax.axis = 2;
    softmax.query_axis = is_causal ? 1 : -1;
    softmax.mask = shape->window > 0 ? &keep : NULL;
    CLF_GOTO(clfi_softmax(context, &softmax));
done:
    clfi_arena_release(context, mark);
    return st;
}
