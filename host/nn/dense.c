/* SPDX-License-Identifier: MIT */
/* Attention of passes over dense batches. */
#include "nn/dense.h"

#include "nn/dense_observe.h"

/* Views the heads of all rows as [N,H,length,D]. head_stride and row_stride: elements between heads, and between rows in layout order. */
static clf_view four_axes(const clf_dense_batch *batch, const clf_view *view, int64_t heads, int64_t length, int64_t size,
                          int64_t head_stride, int64_t row_stride)
{
    const bool is_batch_first = batch->layout == CLF_LAYOUT_NLD;
    return (clf_view){.buffer = view->buffer,
                      .dtype = view->dtype,
                      .rank = 4,
                      .offset = view->offset,
                      .dim = {batch->batch, heads, length, size},
                      .stride = {is_batch_first ? length * row_stride : row_stride, head_stride,
                                 is_batch_first ? row_stride : batch->batch * row_stride, 1}};
}

/* q [H,N*L,D], k and v [G,N*keys,D], out [N*L,H,D], rows in layout order. */
static clf_status attend_rows(clf_context *context, const clf_stack *stack, const clf_dense_batch *batch, bool is_source, int64_t layer,
                              int64_t keys, const clf_view *q, const clf_view *k, const clf_view *v, const clf_view *out)
{
    const clf_dense_masks *masks = is_source ? batch->source : batch->self;
    const float scale = clfi_stack_scale(&stack->config, layer);
    const clf_view q4 = four_axes(batch, q, q->dim[0], batch->length, q->dim[2], q->stride[0], q->stride[1]);
    const clf_view k4 = four_axes(batch, k, k->dim[0], keys, k->dim[2], k->stride[0], k->stride[1]);
    const clf_view v4 = four_axes(batch, v, v->dim[0], keys, v->dim[2], v->stride[0], v->stride[1]);
    const clf_view out4 = four_axes(batch, out, q->dim[0], batch->length, v->dim[2], out->stride[1], out->stride[0]);
    clf_dense_attention attention = {.q = &q4, .k = &k4, .v = &v4, .out = &out4, .masks = masks, .scale = scale};
    const clf_view *weights = clfi_dense_observe(batch, layer, is_source, &attention);
    if (attention.dropout != 0.0f || attention.score) /* such attention runs in steps, which write the weights too */
        attention.weights = weights;
    CLF_TRY(clfi_dense_attend(context, &attention));
    if (!weights || attention.weights)
        return CLF_OK;
    attention.weights = weights;
    return clfi_dense_weights(context, &attention);
}

static clf_status dense_self(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                             const clf_view *k, const clf_view *v, const clf_view *out)
{
    const clf_dense_batch *batch = pass->user;
    CLF_TRY(clfi_stack_check_plain(stack, layer, "a dense batch with masks"));
    return attend_rows(context, stack, batch, false, layer, batch->length, q, k, v, out);
}

static clf_status dense_source(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                               const clf_view *out)
{
    const clf_dense_batch *batch = pass->user;
    const clf_view k = clfi_decoder_memory_view(stack, batch->memory, layer, 0),
                   v = clfi_decoder_memory_view(stack, batch->memory, layer, 1);
    return attend_rows(context, stack, batch, true, layer, batch->memory_length, q, &k, &v, out);
}

clf_status clfi_dense_forward(clf_context *context, const clf_stack *stack, const clf_dense_batch *batch, const clf_view *x)
{
    const clf_layer_pass pass = {.self = dense_self, .source = dense_source, .user = batch};
    const clf_layer_visitor visitor = clfi_dense_visitor(batch);
    return clfi_stack_forward_visited(context, stack, &pass, visitor.visit ? &visitor : NULL, x);
}
