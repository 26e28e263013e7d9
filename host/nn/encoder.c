/* SPDX-License-Identifier: MIT */
/* Encoder layers over packed sequences. */
#include "nn/encoder.h"

#include <math.h>

#include "base/alloc.h"
#include "op/layer_norm.h"

clf_status clfi_encoder_init(clf_encoder *encoder, int64_t layer_count)
{
    if (encoder->heads < 1 || encoder->width % encoder->heads != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "encoder: width %lld is not a multiple of %lld heads", (long long)encoder->width,
                 (long long)encoder->heads);
    CLF_TRY(clfi_alloc((size_t)layer_count, sizeof *encoder->layers, "encoder layers", &encoder->layers));
    encoder->layer_count = layer_count;
    return CLF_OK;
}

void clfi_encoder_clear(clf_encoder *encoder)
{
    for (int64_t i = 0; i < encoder->layer_count; i++) {
        clf_encoder_layer *layer = &encoder->layers[i];
        clfi_linear_destroy(layer->qkv);
        clfi_linear_destroy(layer->output);
        clfi_linear_destroy(layer->ffn_in);
        clfi_linear_destroy(layer->ffn_out);
    }
    free(encoder->layers);
    encoder->layers = NULL;
    encoder->layer_count = 0;
}

static clf_status norm(clf_context *context, const clf_encoder *encoder, const clf_norm *n, const clf_view *x, const clf_view *y)
{
    return clfi_layer_norm(context, x, NULL, &n->gamma, n->beta.buffer ? &n->beta : NULL, 1, encoder->norm_eps, y);
}

/* The part of a head-major [3H, T, D] projection that holds queries, keys or values. */
static clf_view heads_of(const clf_view *qkv, int64_t heads, int part)
{
    clf_view view = *qkv;
    view.dim[0] = heads;
    view.offset += part * heads * view.stride[0];
    return view;
}

/* sum = x + MHA(input). The projections are written head by head, which is what attention reads fastest. */
static clf_status attention_block(clf_context *context, const clf_encoder *encoder, const clf_encoder_layer *layer,
                                  const clf_attention_batch *batch, const clf_view *input, const clf_view *x, const clf_view *sum)
{
    const int64_t tokens = x->dim[0], heads = encoder->heads, size = encoder->width / heads;
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_status st;
    clf_view qkv, mixed;
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 3, (int64_t[]){3 * heads, tokens, size}, &qkv));
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 3, (int64_t[]){tokens, heads, size}, &mixed));
    CLF_GOTO(clfi_linear_run(context, layer->qkv, input, CLF_ACTIVATION_NONE, NULL, &qkv));
    const clf_view q = heads_of(&qkv, heads, 0), k = heads_of(&qkv, heads, 1), v = heads_of(&qkv, heads, 2);
    const clf_attention_args args = {.batch = batch,
                                     .q = &q,
                                     .k = &k,
                                     .v = &v,
                                     .out = &mixed,
                                     .scale = 1.0f / sqrtf((float)size),
                                     .empty_rows = CLF_EMPTY_ROWS_ZERO};
    CLF_GOTO(clfi_attention(context, &args));
    const clf_view concatenated = clfi_view_dense(mixed.buffer, CLF_F32, mixed.offset, 2, x->dim);
    CLF_GOTO(clfi_linear_run(context, layer->output, &concatenated, CLF_ACTIVATION_NONE, x, sum));
done:
    clfi_arena_release(context, mark);
    return st;
}

/* sum = x + FFN(input) */
static clf_status feed_forward_block(clf_context *context, const clf_encoder *encoder, const clf_encoder_layer *layer,
                                     const clf_view *input, const clf_view *x, const clf_view *sum)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_status st;
    clf_view hidden;
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){x->dim[0], encoder->hidden_width}, &hidden));
    CLF_GOTO(clfi_linear_run(context, layer->ffn_in, input, encoder->activation, NULL, &hidden));
    CLF_GOTO(clfi_linear_run(context, layer->ffn_out, &hidden, CLF_ACTIVATION_NONE, x, sum));
done:
    clfi_arena_release(context, mark);
    return st;
}

/* x = LN1(x + MHA(x)); x = LN2(x + FFN(x)), the sums in `other`. */
static clf_status post_norm_layer(clf_context *context, const clf_encoder *encoder, const clf_encoder_layer *layer,
                                  const clf_attention_batch *batch, const clf_view *x, const clf_view *other)
{
    CLF_TRY(attention_block(context, encoder, layer, batch, x, x, other));
    CLF_TRY(norm(context, encoder, &layer->attention_norm, other, x));
    CLF_TRY(feed_forward_block(context, encoder, layer, x, x, other));
    return norm(context, encoder, &layer->ffn_norm, other, x);
}

/* x += MHA(LN1(x)); x += FFN(LN2(x)), the sums going from x to `other` and back. */
static clf_status pre_norm_layer(clf_context *context, const clf_encoder *encoder, const clf_encoder_layer *layer,
                                 const clf_attention_batch *batch, const clf_view *x, const clf_view *other, const clf_view *normed)
{
    CLF_TRY(norm(context, encoder, &layer->attention_norm, x, normed));
    CLF_TRY(attention_block(context, encoder, layer, batch, normed, x, other));
    CLF_TRY(norm(context, encoder, &layer->ffn_norm, other, normed));
    return feed_forward_block(context, encoder, layer, normed, other, x);
}

clf_status clfi_encoder_forward(clf_context *context, const clf_encoder *encoder, const clf_attention_batch *batch, const clf_view *x)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_status st = CLF_OK;
    clf_view other, normed;
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, x->dim, &other));
    if (encoder->norm_first)
        CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, x->dim, &normed));
    for (int64_t i = 0; i < encoder->layer_count; i++)
        CLF_GOTO(encoder->norm_first ? pre_norm_layer(context, encoder, &encoder->layers[i], batch, x, &other, &normed)
                                     : post_norm_layer(context, encoder, &encoder->layers[i], batch, x, &other));
done:
    clfi_arena_release(context, mark);
    return st;
}
