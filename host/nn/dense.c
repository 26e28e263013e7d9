/* SPDX-License-Identifier: MIT */
/* Dense batches with masks: fused attention where nothing but causality masks, else scores, masked softmax and context. */
#include "nn/dense.h"

#include <stdio.h>

#include "op/attention_steps.h"
#include "op/masked_softmax.h"

static clf_status bind(clf_context *context, const char *what, const char *kind, const clf_tensor *tensor, int rank, const int map[4],
                       const clf_view *scores, clf_view *out)
{
    char name[96], shape[CLFI_SHAPE_TEXT_BYTES];
    snprintf(name, sizeof name, "%s %s", what, kind);
    CLF_TRY(clfi_tensor_check(context, name, tensor));
    const clf_view *view = clfi_tensor_view(tensor);
    if (view->dtype != CLF_U8)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: %s is %s, expected uint8", name, clf_dtype_name(view->dtype));
    if (view->rank != rank)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s is %s, expected rank %d", name, clfi_shape_text(view->rank, view->dim, shape), rank);
    return clfi_view_broadcast(name, view, scores, map, out);
}

/* The key axis of a sequence-first mask is never repeated, and the two 2-D masks have every size. */
static clf_status check_size(const char *what, const char *kind, const clf_tensor *tensor, int axis, int64_t want)
{
    const int64_t have = clf_tensor_dim(tensor)[axis];
    if (have != want)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s %s has size %lld on axis %d, expected %lld", what, kind, (long long)have, axis,
                 (long long)want);
    return CLF_OK;
}

clf_status clfi_dense_masks_bind(clf_context *context, const char *what, clf_layout layout, const clf_attention_masks *masks, int64_t batch,
                                 int64_t heads, int64_t queries, int64_t keys, clf_dense_masks *out)
{
    const clf_view scores = {.rank = 4, .dim = {batch, heads, queries, keys}};
    *out = (clf_dense_masks){.empty_rows = CLF_EMPTY_ROWS_ZERO};
    if (!masks)
        return CLF_OK;
    if ((unsigned)masks->empty_rows > CLF_EMPTY_ROWS_UNIFORM)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: %s: policy %d for empty rows is unknown", what, (int)masks->empty_rows);
    out->is_causal = masks->is_causal != 0;
    out->empty_rows = masks->empty_rows;
    if (masks->mask && layout == CLF_LAYOUT_LND && clf_tensor_rank(masks->mask) == 3) {
        CLF_TRY(bind(context, what, "mask", masks->mask, 3, (int[]){2, -1, 0, 1}, &scores, &out->mask));
        CLF_TRY(check_size(what, "mask", masks->mask, 1, keys));
    } else if (masks->mask) {
        CLF_TRY(bind(context, what, "mask", masks->mask, 4, (int[]){0, 1, 2, 3}, &scores, &out->mask));
    }
    if (masks->padding_mask) {
        CLF_TRY(bind(context, what, "padding mask", masks->padding_mask, 2, (int[]){0, -1, -1, 1}, &scores, &out->padding));
        CLF_TRY(check_size(what, "padding mask", masks->padding_mask, 0, batch));
        CLF_TRY(check_size(what, "padding mask", masks->padding_mask, 1, keys));
    }
    if (masks->attention_mask) {
        CLF_TRY(bind(context, what, "attention mask", masks->attention_mask, 2, (int[]){-1, -1, 0, 1}, &scores, &out->attention));
        CLF_TRY(check_size(what, "attention mask", masks->attention_mask, 0, queries));
        CLF_TRY(check_size(what, "attention mask", masks->attention_mask, 1, keys));
    }
    return CLF_OK;
}

/* A view of heads in rows as [N,H,length,D]: head_stride and row_stride between heads and between the layout's rows. */
static clf_view four_axes(const clf_dense_batch *batch, const clf_view *view, int64_t heads, int64_t length, int64_t size, int64_t head_stride,
                          int64_t row_stride)
{
    const bool is_batch_first = batch->layout == CLF_LAYOUT_NLD;
    return (clf_view){.buffer = view->buffer, .dtype = view->dtype, .rank = 4, .offset = view->offset,
                      .dim = {batch->batch, heads, length, size},
                      .stride = {is_batch_first ? length * row_stride : row_stride, head_stride,
                                 is_batch_first ? row_stride : batch->batch * row_stride, 1}};
}

static clf_status attend_in_steps(clf_context *context, const clf_dense_batch *batch, const clf_dense_masks *masks, int64_t keys, float scale,
                                  const clf_view *q, const clf_view *k, const clf_view *v, const clf_view *out)
{
    const int64_t heads = q->dim[0], size = q->dim[2], queries = batch->length;
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_view q4 = four_axes(batch, q, heads, queries, size, q->stride[0], q->stride[1]);
    const clf_view k4 = four_axes(batch, k, heads, keys, size, k->stride[0], k->stride[1]);
    const clf_view v4 = four_axes(batch, v, heads, keys, size, v->stride[0], v->stride[1]);
    const clf_view out4 = four_axes(batch, out, heads, queries, size, out->stride[1], out->stride[0]);
    clf_softmax_args softmax = CLFI_SOFTMAX_ARGS_INIT;
    clf_view weights;
    clf_status st;
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 4, (int64_t[]){batch->batch, heads, queries, keys}, &weights));
    softmax.x = softmax.y = &weights;
    softmax.axis = 3;
    softmax.query_axis = masks->is_causal ? 2 : -1;
    softmax.empty_rows = masks->empty_rows;
    softmax.mask = masks->mask.buffer ? &masks->mask : NULL;
    softmax.padding = masks->padding.buffer ? &masks->padding : NULL;
    softmax.attention = masks->attention.buffer ? &masks->attention : NULL;
    if (keys > 0) {
        CLF_GOTO(clfi_attention_scores(context, &q4, &k4, scale, &weights));
        CLF_GOTO(clfi_softmax(context, &softmax));
    }
    CLF_GOTO(clfi_attention_context(context, &weights, &v4, &out4));
done:
    clfi_arena_release(context, mark);
    return st;
}

static clf_status attend(clf_context *context, const clf_stack *stack, const clf_dense_batch *batch, const clf_dense_masks *masks, int64_t keys,
                         const clf_view *q, const clf_view *k, const clf_view *v, const clf_view *out)
{
    const float scale = clfi_stack_scale(stack);
    if (batch->layout != CLF_LAYOUT_NLD || masks->mask.buffer || masks->padding.buffer || masks->attention.buffer)
        return attend_in_steps(context, batch, masks, keys, scale, q, k, v, out);
    const clf_attention_args args = {.q = q, .k = k, .v = v, .out = out, .scale = scale, .is_causal = masks->is_causal,
                                     .empty_rows = masks->empty_rows};
    return clfi_attention_dense(context, batch->batch, batch->length, keys, &args);
}

static clf_status dense_self(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                             const clf_view *k, const clf_view *v, const clf_view *out)
{
    const clf_dense_batch *batch = pass->user;
    (void)layer;
    return attend(context, stack, batch, batch->self, batch->length, q, k, v, out);
}

static clf_status dense_source(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                               const clf_view *out)
{
    const clf_dense_batch *batch = pass->user;
    const clf_view k = clfi_decoder_memory_view(stack, batch->memory, layer, 0), v = clfi_decoder_memory_view(stack, batch->memory, layer, 1);
    return attend(context, stack, batch, batch->source, batch->memory_length, q, &k, &v, out);
}

clf_status clfi_dense_forward(clf_context *context, const clf_stack *stack, const clf_dense_batch *batch, const clf_view *x)
{
    const clf_layer_pass pass = {dense_self, dense_source, batch};
    return clfi_stack_forward(context, stack, &pass, x);
}
