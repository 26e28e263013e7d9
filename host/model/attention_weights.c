/* SPDX-License-Identifier: MIT */
/* Computes the attention weights of one layer, for pictures of which tokens a model looks at. */
#include "model/session.h"

static clf_status run(const clf_session *session, const clf_token_batch *batch, int64_t layer, const clf_view *weights)
{
    const clf_network *network = session->model->network;
    clf_context *context = session->context;
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view hidden;
    clf_status st;
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){batch->tokens, network->config.encoder.width}, &hidden));
    CLF_GOTO(clfi_session_embed_tokens(session, batch, &hidden));
    CLF_GOTO(clfi_encoder_weights(context, &network->encoder, batch->attention, &batch->positions, layer, &hidden, weights));
done:
    clfi_arena_release(context, mark);
    return st;
}

clf_status clfi_session_attention_once(clf_session *session, const clf_tokens *sequence, int64_t layer, clf_tensor **out)
{
    clf_token_batch batch;
    clf_tensor *weights;
    const clf_model_info *info = &session->model->info;
    const size_t length = sequence->count;
    if (length == 0 || length > (size_t)info->max_positions)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention weights: %zu tokens, expected 1 to %lld", length, (long long)info->max_positions);
    if (layer < 0 || layer >= info->layers)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention weights: layer %lld, the model has layers 0 to %lld", (long long)layer,
                 (long long)info->layers - 1);
    const int64_t tokens = (int64_t)length;
    const clf_sequences one = {sequence->ids, sequence->type_ids, (int32_t[]){0, (int32_t)length}, 1};
    CLF_TRY(clfi_session_pack(session, &one, &batch));
    CLF_TRY(clf_tensor_create(session->context, CLF_F32, 3, (int64_t[]){info->heads, tokens, tokens}, &weights));
    const clf_status st = run(session, &batch, layer, clfi_tensor_view(weights));
    if (st != CLF_OK) {
        clf_tensor_destroy(weights);
        return st;
    }
    *out = weights;
    return CLF_OK;
}

clf_status clf_session_attention(clf_session *session, const clf_tokens *sequence, int64_t layer, clf_tensor **out)
{
    clf_status st;
    if (!session || !sequence || !sequence->ids || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention weights: session, sequence, its ids and out must not be NULL");
    do
        st = clfi_session_attention_once(session, sequence, layer, out);
    while (clfi_session_recover(session, &st));
    return st;
}
