/* SPDX-License-Identifier: MIT */
/* Encoder passes over packed sequences. */
#include "nn/encoder.h"

#include "nn/attention_weights.h"

/* The batch that a run's rows belong to, and the layer whose attention weights are wanted (weights NULL: none). */
typedef struct encoder_run {
    const clf_attention_batch *batch;
    int64_t layer;
    const clf_view *weights;
} encoder_run;

/* Rows attend to all rows of their sequence, or to those before them where the layer is causal. */
static clf_status attend(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                         const clf_view *k, const clf_view *v, const clf_view *out)
{
    const encoder_run *run = pass->user;
    const clf_attention_shape *shape = clfi_stack_attention(&stack->config, layer);
    const clf_attention_args args = {.batch = run->batch,
                                     .q = q,
                                     .k = k,
                                     .v = v,
                                     .out = out,
                                     .scale = clfi_stack_scale(&stack->config, layer),
                                     .is_causal = shape->is_causal,
                                     .bias = clfi_stack_bias(stack),
                                     .window = shape->window,
                                     .empty_rows = CLF_EMPTY_ROWS_ZERO};
    if (run->weights && layer == run->layer)
        CLF_TRY(clfi_attention_weights(context, stack, layer, q, k, shape->is_causal, run->weights));
    return clfi_attention(context, &args);
}

clf_status clfi_encoder_forward(clf_context *context, const clf_encoder *encoder, const clf_attention_batch *batch,
                                const clf_view *positions, const clf_view *x)
{
    const clf_layer_pass pass = {.self = attend, .user = &(encoder_run){batch, 0, NULL}, .positions = positions};
    return clfi_stack_forward(context, encoder, &pass, x);
}

clf_status clfi_encoder_weights(clf_context *context, const clf_encoder *encoder, const clf_attention_batch *batch,
                                const clf_view *positions, int64_t layer, const clf_view *x, const clf_view *weights)
{
    const clf_layer_pass pass = {.self = attend, .user = &(encoder_run){batch, layer, weights}, .positions = positions};
    clf_stack part;
    CLF_TRY(clfi_stack_up_to(encoder, "encoder", layer, &part));
    return clfi_stack_forward(context, &part, &pass, x);
}
