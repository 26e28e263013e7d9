/* SPDX-License-Identifier: MIT */
/* Creates sessions on a model, renews them after a loss of the device, and runs passes through the encoder. */
#include "model/session.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/chat_prompt.h"
#include "model/decode_batch.h"
#include "runtime/launch_graph.h"

clf_status clf_session_create(clf_model *model, clf_context *context, clf_session **out)
{
    clf_session *session;
    if (!model || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "session create: model and out must not be NULL");
    if (!model->has_weights)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "session create: the model was opened without its weights");
    if (context)
        CLF_TRY(clfi_network_check_context("session create", model->network, context));
    CLF_TRY(clfi_alloc(1, sizeof *session, "session", &session));
    session->model = model;
    session->context = context ? context : model->context;
    session->packer = clfi_packer(session->context);
    clfi_context_retain(session->context);
    atomic_fetch_add(&model->references, 1);
    pthread_mutex_lock(&model->lock);
    session->opening = model->opening;
    model->elsewhere += session->context != model->context;
    pthread_mutex_unlock(&model->lock);
    *out = session;
    return CLF_OK;
}

void clf_session_destroy(clf_session *session)
{
    if (!session)
        return;
    clfi_context_drain(session->context); /* kernels may still read the model's weights */
    clfi_graph_destroy(session->row_graph);
    clfi_decode_destroy(session->decoding);
    clfi_chat_prompt_close(session->chat);
    clfi_packer_clear(&session->packer);
    clf_session_destroy(session->portable);
    pthread_mutex_lock(&session->model->lock);
    session->model->elsewhere -= session->context != session->model->context;
    pthread_mutex_unlock(&session->model->lock);
    clfi_context_release(session->context);
    clf_model_destroy(session->model);
    free(session);
}

static void forget_portable(clf_session *session)
{
    clf_session_destroy(session->portable);
    session->portable = NULL;
}

clf_status clfi_session_refresh(clf_session *session)
{
    const uint32_t opening = session->context->openings;
    if (session->opening == opening)
        return CLF_OK;
    if (session->model->opening != opening)
        CLF_TRY(clfi_model_load_again(session->model));
    forget_portable(session);
    clfi_graph_destroy(session->row_graph);
    session->row_graph = NULL;
    clfi_packer_clear(&session->packer);
    session->packer = clfi_packer(session->context);
    session->is_rehearsed = session->is_decoding_rehearsed = false;
    if (session->decoding)
        CLF_TRY(clfi_decode_restart(session->decoding));
    session->opening = opening;
    return CLF_OK;
}

bool clfi_session_recover(clf_session *session, clf_status *st)
{
    if (*st == CLF_DEVICE_LOST) /* its context shares the lost one */
        forget_portable(session);
    return clfi_context_recover(session->context, st);
}

bool clfi_session_reload(clf_session *session, clf_status *st)
{
    if (*st != CLF_UNSUPPORTED || !(session->context->unbuilt & ~session->model->left_out))
        return false;
    *st = clfi_model_load_again(session->model);
    return *st == CLF_OK;
}

clf_status clfi_session_rehearse(clf_session *session, const clf_decode_plan *plan)
{
    clf_status st;
    do
        st = clfi_decode_rehearse(session->decoding, plan, &session->is_decoding_rehearsed);
    while (clfi_session_reload(session, &st));
    return st;
}

clf_status clfi_session_warm(clf_session *session, const clf_decode_sizes *sizes)
{
    clf_status st;
    do
        st = clfi_decode_warm(session->decoding, sizes);
    while (clfi_session_reload(session, &st));
    session->is_decoding_rehearsed = st == CLF_OK;
    return st;
}

clf_context *clf_session_context(const clf_session *session)
{
    return session ? session->context : NULL;
}

clf_status clfi_session_pack(clf_session *session, const clf_sequences *s, clf_token_batch *out)
{
    CLF_TRY(clfi_session_refresh(session));
    if (!(session->model->tasks & CLF_TASK_EMBED))
        CLF_FAIL(CLF_UNSUPPORTED, "model_type \"%s\" generates text and has no encoder: expected an embedding model",
                 session->model->family->model_type);
    if (s->count == 0 || s->count >= INT32_MAX)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%zu sequences: expected 1 to 2^31-2", s->count);
    return clfi_pack_sequences(&session->packer, "sequence", &session->model->network->config.source, s->ids, s->type_ids, s->offsets,
                               s->count, out);
}

clf_status clfi_session_embed_tokens(const clf_session *session, const clf_token_batch *batch, const clf_view *hidden)
{
    const clf_network *network = session->model->network;
    return clfi_network_embed(session->context, &network->source, &batch->ids, &batch->positions, &batch->type_ids, hidden);
}

clf_status clfi_session_encode(const clf_session *session, const clf_token_batch *batch, const clf_view *hidden)
{
    CLF_TRY(clfi_session_embed_tokens(session, batch, hidden));
    return clfi_encoder_forward(session->context, &session->model->network->encoder, batch->attention, &batch->positions, hidden);
}
