/* SPDX-License-Identifier: MIT */
/* Implements the first steps that generate, logits and sequences share: checks parameters, prepares the session's decoding batch, encodes a
 * text, and checks that its tokens fit. */
#include "model/generation.h"

#include "runtime/arena.h"
#include "text/tokenizer.h"

CLFI_OPTIONS(clf_generate_params, CLF_GENERATE_PARAMS_INIT)

clf_status clfi_generation_blame(const clf_generate_params *params, const char *what, size_t index, clf_status st)
{
    if (st == CLF_OK)
        return st;
    if (!params->failed_text)
        return clfi_fail_prefix(st, "%s[%zu]", what, index);
    *params->failed_text = index;
    return st;
}

clf_status clfi_generate_params_check(const clf_text *texts, size_t count, const clf_generate_params *params, clf_generate_params *out)
{
    CLF_TRY(clf_generate_params_read(params, out));
    if (out->failed_text)
        *out->failed_text = count;
    for (size_t i = 0; i < count; i++)
        if (texts[i].size && !texts[i].data)
            return clfi_generation_blame(out, "generate: texts", i, clfi_fail(CLF_INVALID_ARGUMENT, "data is NULL"));
    if (out->stop_count && !out->stops)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: stops is NULL, stop_count %zu", out->stop_count);
    for (size_t i = 0; i < out->stop_count; i++)
        if (out->stops[i].size == 0 || !out->stops[i].data)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: stops[%zu] is empty", i);
    if (out->max_tokens == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: max_tokens 0: expected 1 or more");
    return CLF_OK;
}

void clfi_generation_settle_penalty(const clf_model *model, clf_generate_params *params)
{
    if (params->repeat_penalty == 0.0f)
        params->repeat_penalty = model->generation.repeat_penalty;
}

clf_status clfi_generation_ready(clf_session *session)
{
    const clf_model *model = session->model;
    if (!(model->tasks & CLF_TASK_GENERATE))
        CLF_FAIL(CLF_UNSUPPORTED, "model_type \"%s\" does not generate text", model->family->model_type);
    CLF_TRY(clfi_session_refresh(session));
    if (session->decoding)
        return CLF_OK;
    const clf_memory_plan *plan = &model->plan;
    CLF_TRY(clfi_decode_create(session->context, model->network, clfi_model_cache(model), &session->decoding));
    clfi_arena_reserve(session->context, plan->pass_bytes + plan->sequences * plan->sequence_bytes);
    return CLF_OK;
}

clf_status clfi_generation_encode(const clf_model *model, const clf_generate_params *params, const clf_text *text, size_t enough,
                                  clf_encoding *out)
{
    const clf_encode_options options = {
        .add_special_tokens = !params->no_special_tokens, .ignore_special = params->ignore_special, .enough_tokens = enough};
    CLF_TRY(clfi_tokenizer_encode(model->tokenizer, text->data, text->size, NULL, 0, &options, out));
    if (out->length == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "no tokens: there is nothing to continue");
    if (params->long_texts)
        *params->long_texts += out->length > (size_t)model->info.max_tokens;
    return CLF_OK;
}

uint64_t clfi_generation_held(const clf_session *session)
{
    return session->decoding ? (uint64_t)clfi_decode_usage(session->decoding).used : 0;
}

clf_status clfi_generation_fits(const clf_session *session, size_t sequences, uint64_t tokens)
{
    const clf_memory_plan plan = clfi_memory_plan_for(session->context, &session->model->plan, sequences);
    return clfi_memory_plan_check_tokens(session->context, &plan, tokens);
}
