/* SPDX-License-Identifier: MIT */
/* Computes logits and perplexity of texts. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/finite.h"
#include "model/generation.h"
#include "text/tokenizer.h"

/* The state of reading a sequence: it gets tokens in passes. */
typedef struct reading {
    clf_session *session;
    const clf_generate_params *params;
    int32_t sequence;
    size_t vocabulary;
    float *logits; /* [CLFI_LOGIT_TOKENS, V] */
} reading;

/* Gives the sequence `count` tokens. out: the logits after each token (is_all, with at most CLFI_LOGIT_TOKENS), or after the last; NULL:
 * not wanted. */
static clf_status give(const reading *r, const int32_t *tokens, size_t count, bool is_all, float *out)
{
    clf_context *context = r->session->context;
    const clf_decode_input input = {r->sequence, tokens, (int32_t)count};
    const size_t wanted = (is_all ? count : 1) * r->vocabulary;
    const clf_decode_plan plan = {.inputs = &input, .count = 1, .is_all = is_all};
    CLF_TRY(clfi_session_rehearse(r->session, &plan));
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view logits;
    clf_status st =
        is_all ? clfi_decode_run_all(r->session->decoding, &input, 1, &logits) : clfi_decode_run(r->session->decoding, &input, 1, &logits);
    if (st == CLF_OK && out)
        st = clfi_buffer_read(logits.buffer, (size_t)logits.offset * sizeof *out, out, wanted * sizeof *out);
    clfi_arena_release(context, mark);
    for (size_t row = 0; st == CLF_OK && out && row < wanted / r->vocabulary; row++)
        st = clfi_check_finite("the logit of token", out + row * r->vocabulary, r->vocabulary);
    return st;
}

static clf_status tell(const reading *r, size_t done, size_t total)
{
    const clf_generate_params *params = r->params;
    if (params->progress && params->progress(params->progress_user, done, total) && done < total)
        CLF_FAIL(CLF_CANCELLED, "cancelled after %zu of %zu", done, total);
    return CLF_OK;
}

static clf_status encode(const clf_session *session, const clf_generate_params *params, const clf_text *text, clf_encoding *out)
{
    const int64_t positions = session->model->info.max_positions;
    CLF_TRY(clfi_generation_encode(session->model, params, text, 0, out));
    if ((int64_t)out->length > positions)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%zu tokens, the model has %lld positions", out->length, (long long)positions);
    return clfi_generation_fits(session, 1, clfi_generation_held(session) + out->length);
}

/* A reading_work. */
static clf_status read_text(const reading *r, const void *what, void *out)
{
    const clf_encoding *encoding = what;
    const clf_model *model = r->session->model;
    if (model->network->config.decoder.has_source) {
        const clf_decode_input source = {r->sequence, encoding->ids, (int32_t)encoding->length};
        const clf_decode_input start = {r->sequence, model->generation.start, (int32_t)model->generation.start_count};
        const clf_decode_plan plan = {.sources = &source, .inputs = &start, .count = 1};
        CLF_TRY(clfi_session_rehearse(r->session, &plan));
        CLF_TRY(clfi_decode_sources(r->session->decoding, &source, 1));
        return give(r, model->generation.start, model->generation.start_count, false, out);
    }
    for (size_t first = 0; first < encoding->length; first += CLFI_PASS_TOKENS) {
        const size_t left = encoding->length - first, part = left < CLFI_PASS_TOKENS ? left : CLFI_PASS_TOKENS;
        CLF_TRY(give(r, encoding->ids + first, part, false, part == left ? out : NULL));
    }
    return CLF_OK;
}

typedef clf_status (*reading_work)(const reading *r, const void *what, void *out);

static clf_status in_new_sequence(reading *r, reading_work work, const void *what, void *out)
{
    clf_decode_batch *decoding = r->session->decoding;
    CLF_TRY(clfi_session_refresh(r->session));
    CLF_TRY(clfi_decode_open(decoding, &r->sequence));
    const clf_status st = work(r, what, out), dropped = clfi_decode_drop(decoding, r->sequence);
    return st == CLF_OK ? dropped : st;
}

/* Does the work on a sequence of its own, and starts again after a loss of the device. */
static clf_status in_sequence(reading *r, reading_work work, const void *what, void *out)
{
    clf_status st;
    do
        st = in_new_sequence(r, work, what, out);
    while (clfi_session_recover(r->session, &st));
    return st;
}

clf_status clf_session_logits(clf_session *session, const clf_text *texts, size_t count, const clf_generate_params *params, float *out)
{
    clf_generate_params own;
    clf_encoding *encoding = NULL;
    if (!session || (count && (!texts || !out)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "logits: session, texts and out must not be NULL");
    CLF_TRY(clfi_generate_params_check(texts, count, params, &own));
    CLF_TRY(clfi_generation_ready(session));
    CLF_TRY(clf_encoding_create(&encoding));
    clf_status st = CLF_OK;
    reading r = {.session = session, .params = &own, .vocabulary = (size_t)session->model->info.vocabulary};
    for (size_t i = 0; st == CLF_OK && i < count; i++) {
        st = clfi_generation_blame(&own, "logits: texts", i, encode(session, &own, &texts[i], encoding));
        if (st == CLF_OK)
            st = clfi_generation_blame(&own, "logits: texts", i, in_sequence(&r, read_text, encoding, out + i * r.vocabulary));
        if (st == CLF_OK)
            st = tell(&r, i + 1, count);
    }
    clf_encoding_destroy(encoding);
    return st;
}

/* -log p(token) under softmax(logits). */
static double surprise(const float *logits, size_t vocabulary, int32_t token)
{
    double largest = (double)logits[0], sum = 0;
    for (size_t i = 1; i < vocabulary; i++)
        largest = (double)logits[i] > largest ? (double)logits[i] : largest;
    for (size_t i = 0; i < vocabulary; i++)
        sum += exp((double)logits[i] - largest);
    return log(sum) + largest - (double)logits[token];
}

/* A text whose tokens arrive one by one and are read in windows. */
typedef struct windows {
    reading r;
    int32_t *tokens; /* [size]: the current window */
    size_t count, size;
    size_t done, total; /* tokens of earlier windows, and of the whole text */
    size_t predicted;
    double sum;
} windows;

/* A reading_work: *out = its part of the sum. */
static clf_status read_window(const reading *r, const void *what, void *out)
{
    const windows *w = what;
    double sum = 0;
    for (size_t first = 0; first + 1 < w->count; first += CLFI_LOGIT_TOKENS) {
        const size_t left = w->count - 1 - first, part = left < CLFI_LOGIT_TOKENS ? left : CLFI_LOGIT_TOKENS; /* nothing follows the last */
        CLF_TRY(give(r, w->tokens + first, part, true, r->logits));
        for (size_t i = 0; i < part; i++)
            sum += surprise(r->logits + i * r->vocabulary, r->vocabulary, w->tokens[first + i + 1]);
        CLF_TRY(tell(r, w->done + first + part + (part == left), w->total));
    }
    *(double *)out = sum;
    return CLF_OK;
}

/* Reads the current window in a sequence of its own, and empties it. */
static clf_status end_window(windows *w)
{
    double sum = 0;
    if (w->count == 0)
        return CLF_OK;
    const clf_status st = in_sequence(&w->r, read_window, w, &sum);
    w->sum += sum;
    w->predicted += w->count - 1;
    w->done += w->count;
    w->count = 0;
    return st;
}

static clf_status take_token(void *user, int32_t id)
{
    windows *w = user;
    w->tokens[w->count++] = id;
    return w->count == w->size ? end_window(w) : CLF_OK;
}

static clf_status count_token(void *user, int32_t id)
{
    (void)id;
    ++*(size_t *)user;
    return CLF_OK;
}

/* Encodes the whole text once before, so that every error in it is found before the first pass on the device. */
static clf_status count_tokens(const windows *w, const clf_text *text, const clf_encode_options *options, clf_encoding *memory, size_t *out)
{
    const clf_session *session = w->r.session;
    *out = 0;
    CLF_TRY(clfi_tokenizer_stream(session->model->tokenizer, text, options, memory, count_token, out));
    if (*out < 2)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "a text of %zu %s: expected two or more", *out, clfi_plural(*out, "token", "tokens"));
    return clfi_generation_fits(session, CLFI_LOGIT_TOKENS, clfi_generation_held(session) + (w->size < *out ? w->size : *out));
}

static clf_status read_all(windows *w, const clf_text *text)
{
    const clf_generate_params *params = w->r.params;
    const clf_encode_options options = {.add_special_tokens = !params->no_special_tokens, .ignore_special = params->ignore_special};
    clf_encoding memory = CLF_ENCODING_INIT;
    clf_status st = count_tokens(w, text, &options, &memory, &w->total);
    if (st != CLF_OK && params->failed_text)
        *params->failed_text = 0;
    else if (st != CLF_OK)
        clfi_fail_prefix(st, "perplexity");
    if (st == CLF_OK)
        st = clfi_tokenizer_stream(w->r.session->model->tokenizer, text, &options, &memory, take_token, w);
    if (st == CLF_OK)
        st = end_window(w);
    clfi_encoding_free(&memory);
    return st;
}

clf_status clf_session_perplexity(clf_session *session, const clf_text *text, size_t window, const clf_generate_params *params, double *out,
                                  size_t *out_tokens)
{
    clf_generate_params own;
    clf_status st;
    if (!session || !text || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "perplexity: session, text and out must not be NULL");
    CLF_TRY(clfi_generate_params_check(text, 1, params, &own));
    CLF_TRY(clfi_generation_ready(session));
    if (session->model->network->config.decoder.has_source)
        CLF_FAIL(CLF_UNSUPPORTED, "perplexity: model_type \"%s\" has an encoder: expected a decoder-only model",
                 session->model->family->model_type);
    if (window < 2 || window > (size_t)session->model->info.max_positions)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "perplexity: a window of %zu %s: expected 2 to %lld, the model's positions", window,
                 clfi_plural(window, "token", "tokens"), (long long)session->model->info.max_positions);
    windows w = {.r = {.session = session, .params = &own, .vocabulary = (size_t)session->model->info.vocabulary}, .size = window};
    CLF_GOTO(clfi_alloc(CLFI_LOGIT_TOKENS * w.r.vocabulary, sizeof *w.r.logits, "logits", &w.r.logits));
    CLF_GOTO(clfi_alloc(window, sizeof *w.tokens, "a window", &w.tokens));
    CLF_GOTO(read_all(&w, text));
    *out = exp(w.sum / (double)w.predicted);
    if (out_tokens)
        *out_tokens = w.predicted;
done:
    free(w.tokens);
    free(w.r.logits);
    return st;
}
