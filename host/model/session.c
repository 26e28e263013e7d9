/* SPDX-License-Identifier: MIT */
/* Sessions: created on a model, passes through its encoder. */
#include "model/session.h"

#include "base/alloc.h"

clf_status clfi_session_make(clf_model *model, clf_context *context, clf_session **out)
{
    clf_session *session;
    CLF_TRY(clfi_alloc(1, sizeof *session, "session", &session));
    session->model = model;
    session->context = context;
    session->packer = clfi_packer(context);
    clfi_context_retain(context);
    *out = session;
    return CLF_OK;
}

clf_status clf_session_create(clf_model *model, clf_context *context, clf_session **out)
{
    if (!model || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "session create: model and out must not be NULL");
    if (context)
        CLF_TRY(clfi_network_check_context("session create", model->network, context));
    CLF_TRY(clfi_session_make(model, context ? context : model->context, out));
    atomic_fetch_add(&model->references, 1);
    return CLF_OK;
}

void clf_session_destroy(clf_session *session)
{
    if (!session)
        return;
    clf_model *model = session->model;
    clfi_session_free(session);
    clfi_model_release(model);
}

clf_context *clf_session_context(const clf_session *session)
{
    return session ? session->context : NULL;
}

clf_status clfi_session_pack(clf_session *session, const int32_t *ids, const int32_t *type_ids, const int32_t *offsets, size_t sequences,
                             clf_token_batch *out)
{
    if (!(session->model->tasks & CLF_TASK_EMBED))
        CLF_FAIL(CLF_UNSUPPORTED, "model_type \"%s\" generates text: it has no encoder whose outputs could be embeddings",
                 session->model->family->model_type);
    if (!offsets || sequences == 0 || sequences >= INT32_MAX || (!ids && offsets[sequences] > 0))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "sequences: ids and offsets must not be NULL, and their number must fit 1..2^31-2");
    if (offsets[0] != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "sequences: offsets[0] is %d, expected 0", offsets[0]);
    return clfi_pack_sequences(&session->packer, "sequence", &session->model->network->config.source, ids, type_ids, offsets, sequences,
                               out);
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
