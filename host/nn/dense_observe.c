/* SPDX-License-Identifier: MIT */
/* Dropout, score functions and outputs of layers in passes over dense batches. */
#include "nn/dense_observe.h"

#include "op/activation.h"
#include "op/attention_steps.h"
#include "op/check.h"

/* The places where dropout is applied, numbered as in clf_transformer_params. */
enum { PLACE_SELF_WEIGHTS, PLACE_SELF_RESULT, PLACE_SOURCE_WEIGHTS, PLACE_SOURCE_RESULT, PLACE_HIDDEN, PLACE_FFN_RESULT };

static uint64_t seed_of(const clf_dense_batch *batch, int64_t layer, int place)
{
    return batch->params->seed + 0x9e3779b97f4a7c15u * (16 * (uint64_t)layer + (batch->is_decoder ? 8 : 0) + (uint64_t)place + 1);
}

clf_status clfi_dense_check_params(const clf_transformer_params *params)
{
    CLF_TRY(clfi_check_dropout("transformer weights", params->weight_dropout));
    CLF_TRY(clfi_check_dropout("transformer hidden values", params->hidden_dropout));
    CLF_TRY(clfi_check_dropout("transformer results", params->result_dropout));
    if (params->output_count > 0 && !params->outputs)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transformer: %zu outputs of layers, but outputs is NULL", params->output_count);
    return CLF_OK;
}

static bool is_wanted(const clf_dense_batch *batch, int64_t layer, clf_layer_value value, const clf_layer_output *output)
{
    return !output->is_decoder == !batch->is_decoder && output->layer == layer && output->value == value;
}

static clf_status check_output(clf_context *context, const clf_stack *stack, const clf_dense_batch *batch, const clf_layer_output *output)
{
    static const char *const names[] = {"self-attention weights", "source attention weights", "feed-forward input"};
    char found[CLFI_SHAPE_TEXT_BYTES], expected[CLFI_SHAPE_TEXT_BYTES];
    const char *part = batch->is_decoder ? "decoder" : "encoder";
    const bool is_batch_first = batch->layout == CLF_LAYOUT_NLD;
    if ((unsigned)output->value >= CLF_LAYER_VALUE_COUNT)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer: value %d of a layer is unknown", (int)output->value);
    const char *name = names[output->value];
    if (output->layer < 0 || output->layer >= stack->layer_count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer %s: layer %lld, the %s has layers 0 to %lld", name, (long long)output->layer,
                 part, (long long)stack->layer_count - 1);
    if (output->value == CLF_LAYER_SOURCE_WEIGHTS && !stack->config.has_source)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer %s: the %s has no source attention", name, part);
    CLF_TRY(clfi_tensor_check(context, name, output->out));
    const clf_view *out = clfi_tensor_view(output->out);
    const int64_t heads = clfi_stack_attention(&stack->config, output->layer)->heads;
    clf_view want = {.rank = 4, .dim = {batch->batch, heads, batch->length, batch->length}};
    if (output->value == CLF_LAYER_SOURCE_WEIGHTS)
        want.dim[3] = batch->memory_length;
    else if (output->value == CLF_LAYER_FEED_FORWARD_INPUT)
        want = (clf_view){
            .rank = 3,
            .dim = {is_batch_first ? batch->batch : batch->length, is_batch_first ? batch->length : batch->batch, stack->config.width}};
    if (out->dtype != CLF_F32 || !clfi_view_same_shape(out, &want))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: transformer %s of layer %lld: %s %s, expected float32 %s", name, (long long)output->layer,
                 clf_dtype_name(out->dtype), clfi_shape_text(out->rank, out->dim, found), clfi_shape_text(want.rank, want.dim, expected));
    return clfi_check_writable("transformer", name, out);
}

clf_status clfi_dense_check_outputs(clf_context *context, const clf_stack *stack, const clf_dense_batch *batch)
{
    const clf_layer_output *outputs = batch->params->outputs;
    for (size_t i = 0; i < batch->params->output_count; i++) {
        if (!outputs[i].is_decoder != !batch->is_decoder)
            continue;
        CLF_TRY(check_output(context, stack, batch, &outputs[i]));
        for (size_t j = 0; j < i; j++)
            if (is_wanted(batch, outputs[i].layer, outputs[i].value, &outputs[j]))
                CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: transformer: outputs %zu and %zu name the same value of layer %lld", j, i,
                         (long long)outputs[i].layer);
    }
    return CLF_OK;
}

const clf_view *clfi_dense_observe(const clf_dense_batch *batch, int64_t layer, bool is_source, clf_dense_attention *attention)
{
    const clf_transformer_params *params = batch->params;
    if (!params)
        return NULL;
    attention->dropout = params->weight_dropout;
    attention->seed = seed_of(batch, layer, is_source ? PLACE_SOURCE_WEIGHTS : PLACE_SELF_WEIGHTS);
    attention->score = params->score;
    attention->score_user = params->score_user;
    attention->call = (clf_score_call){.layer = layer, .is_decoder = batch->is_decoder, .is_source = is_source};
    for (size_t i = 0; i < params->output_count; i++)
        if (is_wanted(batch, layer, is_source ? CLF_LAYER_SOURCE_WEIGHTS : CLF_LAYER_SELF_WEIGHTS, &params->outputs[i]))
            return clfi_tensor_view(params->outputs[i].out);
    return NULL;
}

/* Views rows, which are in the layout's order, as [N,L,columns]. */
static clf_view batch_first(const clf_dense_batch *batch, const clf_view *rows)
{
    const int64_t columns = rows->dim[1];
    clf_view view = clfi_view_dense(rows->buffer, rows->dtype, rows->offset, 3, (int64_t[]){batch->batch, batch->length, columns});
    if (batch->layout != CLF_LAYOUT_NLD) {
        view.stride[0] = columns;
        view.stride[1] = batch->batch * columns;
    }
    return view;
}

static clf_status drop(clf_context *context, const clf_dense_batch *batch, int64_t layer, int place, float probability,
                       const clf_view *rows)
{
    const clf_view view = batch_first(batch, rows);
    return probability == 0.0f ? CLF_OK : clfi_dropout(context, &view, probability, seed_of(batch, layer, place), &view);
}

static clf_status give_input(clf_context *context, const clf_dense_batch *batch, int64_t layer, const clf_view *rows)
{
    const clf_transformer_params *params = batch->params;
    for (size_t i = 0; i < params->output_count; i++) {
        if (!is_wanted(batch, layer, CLF_LAYER_FEED_FORWARD_INPUT, &params->outputs[i]))
            continue;
        const clf_view *out = clfi_tensor_view(params->outputs[i].out);
        const clf_view input = clfi_view_dense(rows->buffer, rows->dtype, rows->offset, 3, out->dim); /* both in the layout's order */
        return clfi_activation(context, CLF_ACTIVATION_NONE, &input, out);
    }
    return CLF_OK;
}

static clf_status visit(clf_context *context, const void *user, int64_t layer, clf_layer_point point, const clf_view *rows)
{
    const clf_dense_batch *batch = user;
    const clf_transformer_params *params = batch->params;
    switch (point) {
    case CLF_POINT_SELF_RESULT:
        return drop(context, batch, layer, PLACE_SELF_RESULT, params->result_dropout, rows);
    case CLF_POINT_SOURCE_RESULT:
        return drop(context, batch, layer, PLACE_SOURCE_RESULT, params->result_dropout, rows);
    case CLF_POINT_FFN_INPUT:
        return give_input(context, batch, layer, rows);
    case CLF_POINT_FFN_HIDDEN:
        return drop(context, batch, layer, PLACE_HIDDEN, params->hidden_dropout, rows);
    case CLF_POINT_FFN_RESULT:
        return drop(context, batch, layer, PLACE_FFN_RESULT, params->result_dropout, rows);
    }
    return CLF_OK;
}

clf_layer_visitor clfi_dense_visitor(const clf_dense_batch *batch)
{
    const clf_transformer_params *params = batch->params;
    if (!params || (params->hidden_dropout == 0.0f && params->result_dropout == 0.0f && params->output_count == 0))
        return (clf_layer_visitor){.visit = NULL};
    return (clf_layer_visitor){visit, batch, params->result_dropout != 0.0f};
}
