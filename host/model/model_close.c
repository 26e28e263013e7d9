/* SPDX-License-Identifier: MIT */
/* The ends of models and sessions: a model owns a session, and a session may own a model. */
#include "model/chat_prompt.h"
#include "model/decode_batch.h"
#include "model/session.h"

void clfi_model_release(clf_model *model)
{
    if (atomic_fetch_sub(&model->references, 1) > 1)
        return;
    clfi_context_drain(model->context); /* kernels may still read the mapped weights */
    clf_tokenizer_destroy(model->tokenizer);
    clf_tokenizer_destroy(model->target);
    clfi_generation_config_free(&model->generation);
    clfi_network_destroy(model->network);
    clfi_labels_free(&model->labels);
    clfi_sentence_head_clear(&model->sentence);
    clfi_sentence_settings_free(&model->settings);
    clfi_context_release(model->context);
    free(model->directory);
    free(model);
}

void clfi_session_free(clf_session *session)
{
    if (!session)
        return;
    clfi_context_drain(session->context); /* kernels may still read the model's weights */
    clfi_decode_destroy(session->decoding);
    clfi_chat_prompt_close(session->chat);
    clfi_packer_clear(&session->packer);
    clf_model_destroy(session->portable);
    clfi_context_release(session->context);
    free(session);
}

void clf_model_destroy(clf_model *model)
{
    if (!model)
        return;
    clfi_session_free(model->own);
    model->own = NULL;
    clfi_model_release(model);
}
