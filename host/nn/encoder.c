/* SPDX-License-Identifier: MIT */
/* Encoder passes over packed sequences. */
#include "nn/encoder.h"

clf_status clfi_encoder_init(clf_encoder *encoder, int64_t layer_count)
{
    encoder->has_source = false;
    return clfi_stack_init(encoder, layer_count);
}

void clfi_encoder_clear(clf_encoder *encoder)
{
    clfi_stack_clear(encoder);
}

/* Every row attends to all rows of its sequence. */
static clf_status attend(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                         const clf_view *k, const clf_view *v, const clf_view *out)
{
    (void)layer;
    const clf_attention_args args = {.batch = pass->user,
                                     .q = q,
                                     .k = k,
                                     .v = v,
                                     .out = out,
                                     .scale = clfi_stack_scale(stack),
                                     .empty_rows = CLF_EMPTY_ROWS_ZERO};
    return clfi_attention(context, &args);
}

clf_status clfi_encoder_forward(clf_context *context, const clf_encoder *encoder, const clf_attention_batch *batch, const clf_view *x)
{
    const clf_layer_pass pass = {.self = attend, .user = batch};
    return clfi_stack_forward(context, encoder, &pass, x);
}
