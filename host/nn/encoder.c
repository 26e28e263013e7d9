/* SPDX-License-Identifier: MIT */
/* Encoder passes over packed sequences. */
#include "nn/encoder.h"

#include "nn/attention_weights.h"

clf_status clfi_encoder_init(clf_encoder *encoder, int64_t layer_count)
{
    encoder->has_source = false;
    return clfi_stack_init(encoder, layer_count);
}

void clfi_encoder_clear(clf_encoder *encoder)
{
    clfi_stack_clear(encoder);
}

/* Where the rows of a run belong, and which layer's weights are wanted (weights NULL: none). */
typedef struct encoder_run {
    const clf_attention_batch *batch;
    int64_t layer;
    const clf_view *weights;
} encoder_run;

/* Every row attends to all rows of its sequence. */
static clf_status attend(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                         const clf_view *k, const clf_view *v, const clf_view *out)
{
    const encoder_run *run = pass->user;
    const clf_attention_args args = {.batch = run->batch,
                                     .q = q,
                                     .k = k,
                                     .v = v,
                                     .out = out,
                                     .scale = clfi_stack_scale(stack),
                                     .empty_rows = CLF_EMPTY_ROWS_ZERO};
    if (run->weights && layer == run->layer)
        CLF_TRY(clfi_attention_weights(context, args.scale, q, k, false, run->weights));
    return clfi_attention(context, &args);
}

clf_status clfi_encoder_forward(clf_context *context, const clf_encoder *encoder, const clf_attention_batch *batch, const clf_view *x)
{
    const clf_layer_pass pass = {.self = attend, .user = &(encoder_run){batch, 0, NULL}};
    return clfi_stack_forward(context, encoder, &pass, x);
}

clf_status clfi_encoder_weights(clf_context *context, const clf_encoder *encoder, const clf_attention_batch *batch, int64_t layer,
                                const clf_view *x, const clf_view *weights)
{
    const clf_layer_pass pass = {.self = attend, .user = &(encoder_run){batch, layer, weights}};
    clf_stack part;
    CLF_TRY(clfi_stack_up_to(encoder, "encoder", layer, &part));
    return clfi_stack_forward(context, &part, &pass, x);
}
