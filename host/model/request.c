/* SPDX-License-Identifier: MIT */
/* Implements requests: encodes a prompt, chooses next tokens, and reports text only as far as no stop text can begin in it. */
#include "model/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/sequence.h"

clf_status clfi_request_check(const clf_session *session, clf_generate_params *params)
{
    const clf_model *model = session->model;
    clfi_generation_settle_penalty(model, params);
    CLF_TRY(clfi_sampler_check(params));
    if (!params->sequence)
        return CLF_OK;
    if (params->sequence->session != session)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: a sequence is of another session");
    if (model->network->config.decoder.has_source)
        CLF_FAIL(CLF_UNSUPPORTED, "generate: model_type \"%s\" has an encoder: expected no sequence", model->family->model_type);
    return CLF_OK;
}

static bool has_source(const clf_request *r)
{
    return r->session->model->network->config.decoder.has_source;
}

static clf_status copy_tokens(const int32_t *from, size_t count, int32_t **out)
{
    CLF_TRY(clfi_alloc(count, sizeof **out, "tokens", out));
    memcpy(*out, from, count * sizeof **out);
    return CLF_OK;
}

static clf_status check_ids(const clf_request *r, const clf_prompt *prompt)
{
    const clf_network_config *config = &r->session->model->network->config;
    const int64_t vocabulary = has_source(r) ? config->source.vocabulary : config->target.vocabulary;
    if (prompt->id_count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "no tokens: there is nothing to continue");
    for (size_t i = 0; i < prompt->id_count; i++)
        if (prompt->ids[i] < 0 || prompt->ids[i] >= vocabulary)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "token %d is outside 0..%lld", prompt->ids[i], (long long)vocabulary - 1);
    return CLF_OK;
}

/* Takes over the prompt's tokens; for an encoder-decoder they are its source. */
static clf_status take_ids(clf_request *r, const int32_t *ids, size_t count)
{
    const clf_model *model = r->session->model;
    const clf_generation_config *settings = &model->generation;
    const size_t positions = (size_t)model->network->config.target.max_positions;
    const size_t first = has_source(r) ? settings->start_count : count;
    const size_t most = has_source(r) ? (size_t)model->network->config.source.max_positions : positions - 1;
    if (count > most || first >= positions)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%zu tokens, the model has %zu positions", count, has_source(r) ? most : positions);
    if (has_source(r)) {
        CLF_TRY(copy_tokens(ids, count, &r->source));
        r->source_count = count;
    }
    const size_t text = r->params.max_tokens < positions - first ? r->params.max_tokens : positions - first;
    r->longest = first + text;
    CLF_TRY(clfi_grow(&r->tokens, &r->capacity, r->longest, sizeof *r->tokens, "tokens"));
    memcpy(r->tokens, has_source(r) ? settings->start : ids, first * sizeof *r->tokens);
    r->count = r->prompt_count = first;
    return CLF_OK;
}

static clf_status take_prompt(clf_request *r, const clf_prompt *prompt)
{
    clf_encoding *encoding;
    if (prompt->ids) {
        CLF_TRY(check_ids(r, prompt));
        return take_ids(r, prompt->ids, prompt->id_count);
    }
    CLF_TRY(clf_encoding_create(&encoding));
    clf_status st = clfi_generation_encode(r->session->model, &r->params, &prompt->text, 0, encoding);
    if (st == CLF_OK)
        st = take_ids(r, encoding->ids, encoding->length);
    clf_encoding_destroy(encoding);
    return st;
}

/* Opens the decoder of the text, which has the prompt and the text so far before it. */
static clf_status open_decoder(clf_request *r)
{
    const clf_model *model = r->session->model;
    clf_text text;
    CLF_TRY(clf_token_decoder_create(has_source(r) ? model->target : model->tokenizer, 1, &r->decoder));
    for (size_t i = has_source(r) ? r->prompt_count : 0; i < r->count; i++)
        CLF_TRY(clf_token_decoder_push(r->decoder, r->tokens[i], &text));
    return CLF_OK;
}

clf_status clfi_request_move(clf_request *r, clf_session *session)
{
    if (r->params.sequence)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "a request with a sequence cannot move to another session");
    clf_token_decoder_destroy(r->decoder);
    r->decoder = NULL;
    r->session = session;
    r->sequence = -1;
    r->given = 0;
    r->turn = 0;
    return open_decoder(r);
}

clf_status clfi_request_create(clf_session *session, const clf_generate_params *params, const clf_prompt *prompt, size_t number,
                               clf_generate_callback on_step, void *user, clf_request **out)
{
    clf_generate_params own;
    clf_request *r;
    CLF_TRY(clfi_generate_params_check(&prompt->text, prompt->ids ? 0 : 1, params, &own));
    CLF_TRY(clfi_request_check(session, &own));
    if (own.beams > 1)
        CLF_FAIL(CLF_UNSUPPORTED, "generate: %zu beams: expected 1 beside other requests", own.beams);
    CLF_TRY(clfi_alloc(1, sizeof *r, "request", &r));
    *r = (clf_request){.session = session,
                       .params = own,
                       .on_step = on_step,
                       .user = user,
                       .number = number,
                       .sequence = -1,
                       .end_of_turn = -1,
                       .pending = CLF_STR_INIT};
    clf_status st = take_prompt(r, prompt);
    if (st == CLF_OK)
        st = open_decoder(r);
    if (st == CLF_OK)
        *out = r;
    else
        clfi_request_destroy(r);
    return st;
}

void clfi_request_destroy(clf_request *request)
{
    if (!request)
        return;
    clf_token_decoder_destroy(request->decoder);
    clfi_str_free(&request->pending);
    free(request->tokens);
    free(request->source);
    free(request);
}

void clfi_request_cancel(clf_request *request)
{
    atomic_store(&request->is_cancelled, true);
}

static size_t chosen_tokens(const clf_request *r)
{
    return r->count - r->prompt_count;
}

static clf_text_state text_state(const clf_request *r)
{
    return (clf_text_state){r->tokens, r->count, r->prompt_count, chosen_tokens(r) + 1 >= r->params.max_tokens};
}

clf_wanted_logits clfi_request_wants(const clf_request *r)
{
    const clf_text_state text = text_state(r);
    const bool is_free = !clfi_generation_config_constrains(&r->session->model->generation, &text);
    return is_free ? clfi_sampler_wants(&r->params) : (clf_wanted_logits){0};
}

bool clfi_request_choose_best(const clf_request *r, clf_sampler *sampler, const clf_best *best, int32_t *out)
{
    return clfi_sampler_choose_best(sampler, &r->params, best, chosen_tokens(r), out);
}

clf_status clfi_request_choose(clf_request *r, clf_sampler *sampler, float *logits, int32_t *out)
{
    const clf_model *model = r->session->model;
    const clf_text_state text = text_state(r);
    clfi_generation_config_constrain(&model->generation, &text, logits, (size_t)model->network->config.target.vocabulary);
    const size_t penalised = clfi_generation_config_window(&model->generation, r->count);
    return clfi_sampler_choose(sampler, &r->params, logits, r->tokens + r->count - penalised, penalised, chosen_tokens(r), out);
}

static int tell(const clf_request *r, int32_t token, size_t size, clf_finish finish)
{
    const clf_generated step = {r->number, token, {clfi_str_text(&r->pending), size}, finish};
    return r->on_step ? r->on_step(r->user, &step) : 0;
}

/* Position of the first stop text; the pending text's size: there is none. */
static size_t find_stop(const clf_request *r)
{
    const char *text = clfi_str_text(&r->pending);
    for (size_t i = 0; i < r->pending.length; i++)
        for (size_t s = 0; s < r->params.stop_count; s++) {
            const clf_text *stop = &r->params.stops[s];
            if (stop->size && stop->size <= r->pending.length - i && memcmp(text + i, stop->data, stop->size) == 0)
                return i;
        }
    return r->pending.length;
}

/* How many bytes at the end of the pending text may be the beginning of a stop text. */
static size_t undecided(const clf_request *r)
{
    const char *text = clfi_str_text(&r->pending);
    const size_t length = r->pending.length;
    size_t most = 0;
    for (size_t s = 0; s < r->params.stop_count; s++) {
        const clf_text *stop = &r->params.stops[s];
        for (size_t n = stop->size ? stop->size - 1 : 0; n > most; n--)
            if (n <= length && memcmp(text + length - n, stop->data, n) == 0) {
                most = n;
                break;
            }
    }
    while (most < length && most > 0 && ((unsigned char)text[length - most] & 0xc0) == 0x80)
        most++; /* whole characters */
    return most;
}

static bool ends_text(const clf_request *r, int32_t token)
{
    const clf_generation_config *settings = &r->session->model->generation;
    for (size_t i = 0; i < settings->end_count; i++)
        if (settings->ends[i] == token)
            return true;
    return token == r->end_of_turn;
}

static void cut_pending(clf_request *r, size_t size)
{
    memmove(r->pending.data, r->pending.data + size, r->pending.length - size);
    r->pending.length -= size;
}

clf_status clfi_request_finish(clf_request *r, clf_finish finish, clf_finish *out)
{
    clf_text rest;
    CLF_TRY(clf_token_decoder_finish(r->decoder, &rest));
    CLF_TRY(clfi_str_append(&r->pending, rest.data, rest.size));
    const size_t stop = find_stop(r);
    *out = stop < r->pending.length ? CLF_FINISH_STOP : finish;
    r->pending.length = stop;
    return CLF_OK;
}

clf_status clfi_request_push(clf_request *r, int32_t token, clf_finish *out)
{
    const size_t positions = (size_t)r->session->model->network->config.target.max_positions;
    clf_text text;
    *out = CLF_FINISH_NONE;
    if (ends_text(r, token))
        return clfi_request_finish(r, CLF_FINISH_STOP, out);
    CLF_TRY(clfi_grow(&r->tokens, &r->capacity, r->count + 1, sizeof *r->tokens, "tokens"));
    r->tokens[r->count++] = token;
    CLF_TRY(clf_token_decoder_push(r->decoder, token, &text));
    CLF_TRY(clfi_str_append(&r->pending, text.data, text.size));
    const size_t stop = find_stop(r);
    const bool is_stopped = stop < r->pending.length;
    const size_t certain = is_stopped ? stop : r->pending.length - undecided(r);
    const int wants_end = tell(r, token, certain, CLF_FINISH_NONE);
    cut_pending(r, certain);
    if (is_stopped) {
        r->pending.length = 0;
        *out = CLF_FINISH_STOP;
    } else if (wants_end) {
        *out = CLF_FINISH_CALLER;
    } else if (r->count - r->prompt_count >= r->params.max_tokens || r->count >= positions) {
        return clfi_request_finish(r, CLF_FINISH_LENGTH, out);
    }
    return CLF_OK;
}

void clfi_request_end(clf_request *r, clf_finish finish, clf_status status)
{
    r->status = status;
    if (status != CLF_OK) {
        snprintf(r->reason, sizeof r->reason, "%s", clf_last_error());
        finish = CLF_FINISH_REFUSED;
    }
    r->finish = finish;
    tell(r, -1, status == CLF_OK ? r->pending.length : 0, finish);
}
