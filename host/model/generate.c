/* SPDX-License-Identifier: MIT */
/* Generating text: prompts that join a decoding batch, tokens that are sampled, decoded and handed out, texts that end and leave. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/beam_search.h"
#include "model/decode_loop.h"
#include "model/decode_rehearsal.h"
#include "model/generation.h"
#include "model/sampler.h"
#include "model/sequence.h"

/* One prompt at work. */
typedef struct text_run {
    size_t prompt;
    int32_t sequence;
    int32_t *source; /* of an encoder-decoder: the prompt's tokens */
    int32_t *tokens; /* of the prompt (of an encoder-decoder: what texts begin with), then of its text */
    size_t source_count;
    int32_t *found; /* [found_count]: what a beam search has found */
    size_t found_count;
    size_t prompt_count, count, given, capacity;
    size_t longest; /* tokens that it may come to */
    clf_token_decoder *decoder;
    clf_str pending; /* decoded, but perhaps the beginning of a stop text */
} text_run;

typedef struct generation {
    clf_session *session;
    const clf_text *prompts;
    size_t count, next; /* prompts; the next that waits */
    clf_generate_params params;
    clf_generate_callback on_token;
    void *user;
    clf_sampler *sampler;
    clf_encoding *encoding;
    text_run *runs; /* [most]: those below `active` are at work */
    size_t active, most;
    size_t held;              /* cache rows of the session's other sequences */
    size_t full;              /* above 0: beside so many runs the next one's keys and values had no room */
    clf_decode_input *inputs; /* [most] */
    float *logits;            /* [most, V] */
} generation;

static void clear_run(text_run *run)
{
    clf_token_decoder_destroy(run->decoder);
    clfi_str_free(&run->pending);
    free(run->tokens);
    free(run->source);
    free(run->found);
    *run = (text_run){.sequence = -1};
}

static int tell(const generation *g, const text_run *run, int32_t token, const char *text, size_t size, clf_finish finish)
{
    const clf_generated step = {run->prompt, token, {text ? text : "", size}, finish};
    return g->on_token ? g->on_token(g->user, &step) : 0;
}

/* The run's cache goes back; a caller's sequence keeps what was given. */
static clf_status release(const generation *g, const text_run *run)
{
    clf_sequence *kept = g->params.sequence;
    if (!kept)
        return clfi_decode_drop(g->session->decoding, run->sequence);
    CLF_TRY(clfi_sequence_reserve(kept, run->given));
    memcpy(kept->tokens, run->tokens, run->given * sizeof *kept->tokens);
    kept->count = run->given;
    return CLF_OK;
}

/* The last call for a prompt, with what is left of its text up to `size` bytes; its place goes to the last run. */
static clf_status end_run(generation *g, size_t index, size_t size, clf_finish finish)
{
    text_run *run = &g->runs[index];
    tell(g, run, -1, clfi_str_text(&run->pending), size, finish);
    const clf_status st = release(g, run);
    clear_run(run);
    if (index != --g->active) {
        g->runs[index] = g->runs[g->active];
        g->runs[g->active] = (text_run){.sequence = -1};
    }
    return st;
}

/* Where the first stop text begins; the pending text's size where there is none. */
static size_t find_stop(const generation *g, const clf_str *pending)
{
    const char *text = clfi_str_text(pending);
    for (size_t i = 0; i < pending->length; i++)
        for (size_t s = 0; s < g->params.stop_count; s++) {
            const clf_text *stop = &g->params.stops[s];
            if (stop->size && stop->size <= pending->length - i && memcmp(text + i, stop->data, stop->size) == 0)
                return i;
        }
    return pending->length;
}

/* Bytes at the end that may become a stop text. */
static size_t undecided(const generation *g, const clf_str *pending)
{
    const char *text = clfi_str_text(pending);
    size_t most = 0;
    for (size_t s = 0; s < g->params.stop_count; s++) {
        const clf_text *stop = &g->params.stops[s];
        for (size_t n = stop->size ? stop->size - 1 : 0; n > most; n--)
            if (n <= pending->length && memcmp(text + pending->length - n, stop->data, n) == 0) {
                most = n;
                break;
            }
    }
    while (most < pending->length && most > 0 && ((unsigned char)text[pending->length - most] & 0xc0) == 0x80)
        most++; /* whole characters */
    return most;
}

static bool ends_text(const generation *g, int32_t token)
{
    const clf_model *model = g->session->model;
    for (size_t i = 0; i < model->generation.end_count; i++)
        if (model->generation.ends[i] == token)
            return true;
    return false;
}

/* The end of a text that was not cut: what the decoder still holds may complete a stop text. */
static clf_status finish_run(generation *g, size_t index, clf_finish finish)
{
    text_run *run = &g->runs[index];
    clf_text rest;
    CLF_TRY(clf_token_decoder_finish(run->decoder, &rest));
    CLF_TRY(clfi_str_append(&run->pending, rest.data, rest.size));
    const size_t stop = find_stop(g, &run->pending);
    return end_run(g, index, stop, stop < run->pending.length ? CLF_FINISH_STOP : finish);
}

/* A chosen token: told, and the text ended where it has to; the run at `index` is then another one. */
static clf_status take_token(generation *g, size_t index, int32_t token)
{
    text_run *run = &g->runs[index];
    const int64_t positions = g->session->model->network->config.target.max_positions;
    clf_text text;
    if (ends_text(g, token))
        return finish_run(g, index, CLF_FINISH_STOP);
    CLF_TRY(clfi_grow(&run->tokens, &run->capacity, run->count + 1, sizeof *run->tokens, "tokens"));
    run->tokens[run->count++] = token;
    CLF_TRY(clf_token_decoder_push(run->decoder, token, &text));
    CLF_TRY(clfi_str_append(&run->pending, text.data, text.size));
    const size_t stop = find_stop(g, &run->pending);
    const bool is_stopped = stop < run->pending.length;
    const size_t certain = is_stopped ? stop : run->pending.length - undecided(g, &run->pending);
    const int wants_end = tell(g, run, token, clfi_str_text(&run->pending), certain, CLF_FINISH_NONE);
    memmove(run->pending.data, run->pending.data + certain, run->pending.length - certain);
    run->pending.length -= certain;
    if (is_stopped)
        return end_run(g, index, 0, CLF_FINISH_STOP);
    if (wants_end)
        return end_run(g, index, run->pending.length, CLF_FINISH_CALLER);
    if (run->count - run->prompt_count >= g->params.max_tokens || (int64_t)run->count >= positions)
        return finish_run(g, index, CLF_FINISH_LENGTH);
    return CLF_OK;
}

static clf_status blame(const generation *g, const text_run *run, clf_status st)
{
    return clfi_generation_blame(&g->params, "generate: prompts", run->prompt, st);
}

/* Whether the run has room beside those before it: else it waits until one of them ends. */
static clf_status find_room(generation *g, size_t longest, bool *has_room)
{
    size_t sum = g->held + longest;
    for (size_t i = 0; i + 1 < g->active; i++)
        sum += g->runs[i].longest;
    const clf_status st = clfi_generation_fits(g->session, sum);
    *has_room = st == CLF_OK;
    return g->active == 1 ? st : CLF_OK;
}

/* A new sequence, or the caller's with the tokens that it shares with the prompt, whose last one is always given. */
static clf_status open_sequence(const generation *g, text_run *run)
{
    clf_sequence *kept = g->params.sequence;
    if (!kept)
        return clfi_decode_open(g->session->decoding, &run->sequence);
    run->given = clfi_sequence_shared(kept, run->tokens, run->count - 1);
    run->sequence = kept->number;
    return clf_sequence_keep(kept, run->given);
}

/* The next prompt's run. */
static clf_status start_run(generation *g)
{
    const clf_model *model = g->session->model;
    text_run *run = &g->runs[g->active];
    const bool has_source = model->network->config.decoder.has_source;
    clf_text text;
    *run = (text_run){.prompt = g->next, .sequence = -1, .pending = CLF_STR_INIT};
    g->active++; /* released with the others from here on */
    CLF_TRY(blame(g, run, clfi_generation_encode(model, &g->params, &g->prompts[run->prompt], g->encoding)));
    const clf_generation_config *settings = &model->generation;
    const size_t tokens = g->encoding->length, count = has_source ? settings->start_count : tokens;
    const size_t room = (size_t)model->network->config.target.max_positions;
    const size_t most_tokens = has_source ? (size_t)model->network->config.source.max_positions : room - 1;
    if (tokens > most_tokens || count >= room)
        return blame(g, run,
                     clfi_fail(CLF_INVALID_ARGUMENT, "%zu tokens, the model has %zu positions", tokens, has_source ? most_tokens : room));
    if (has_source) {
        CLF_TRY(clfi_alloc(tokens, sizeof *run->source, "tokens", &run->source));
        memcpy(run->source, g->encoding->ids, tokens * sizeof *run->source);
        run->source_count = tokens;
    }
    const size_t most = g->params.max_tokens < room - count ? g->params.max_tokens : room - count;
    const clf_sequence *kept = g->params.sequence;
    bool has_room;
    if (kept)
        g->held = (size_t)clfi_decode_rows_beside(g->session->decoding, kept->number,
                                                  (int32_t)clfi_sequence_shared(kept, g->encoding->ids, count - 1));
    CLF_TRY(blame(g, run, find_room(g, count + most, &has_room)));
    if (!has_room) {
        g->full = --g->active;
        clear_run(run);
        return CLF_OK;
    }
    run->longest = count + most;
    CLF_TRY(clfi_grow(&run->tokens, &run->capacity, count + most, sizeof *run->tokens, "tokens"));
    memcpy(run->tokens, has_source ? settings->start : g->encoding->ids, count * sizeof *run->tokens);
    run->count = run->prompt_count = count;
    CLF_TRY(clf_token_decoder_create(has_source ? model->target : model->tokenizer, 1, &run->decoder));
    for (size_t i = 0; i < count && !has_source; i++)
        CLF_TRY(clf_token_decoder_push(run->decoder, run->tokens[i], &text));
    CLF_TRY(open_sequence(g, run));
    g->next++;
    return CLF_OK;
}

static clf_status join(generation *g)
{
    if (g->active < g->full)
        g->full = 0;
    while (g->active < g->most && g->next < g->count && g->full == 0)
        CLF_TRY(start_run(g));
    return CLF_OK;
}

/* Memory for the pass at hand and those after it, so that they allocate nothing. */
static clf_status reserve(const generation *g)
{
    size_t rows = g->held, longest = 0;
    for (size_t i = 0; i < g->active; i++) {
        const size_t length = g->runs[i].capacity + g->runs[i].source_count;
        rows += length;
        longest = length > longest ? length : longest;
    }
    return clfi_decode_reserve(g->session->decoding, (int64_t)rows, g->active, longest);
}

/* The sources of the runs from `first` on. */
static size_t list_sources(const generation *g, size_t first, clf_decode_input *out)
{
    size_t count = 0;
    for (size_t i = first; i < g->active; i++)
        out[count++] = (clf_decode_input){g->runs[i].sequence, g->runs[i].source, (int32_t)g->runs[i].source_count};
    return count;
}

/* What each run is given next: its last token, or the next part of its prompt. */
static void list_inputs(const generation *g)
{
    size_t left = CLFI_PASS_TOKENS;
    for (size_t i = 0; i < g->active; i++) {
        const text_run *run = &g->runs[i];
        const size_t missing = run->count - run->given, others = g->active - i - 1;
        const size_t most = left > others ? left - others : 1, part = missing < most ? missing : most;
        g->inputs[i] = (clf_decode_input){run->sequence, run->tokens + run->given, (int32_t)part};
        left -= part < left ? part : left;
    }
}

/* What the first runs need, and their next tokens. */
static clf_status rehearse(generation *g)
{
    clf_session *session = g->session;
    clf_decode_plan plan = {.inputs = g->inputs, .count = g->active, .following = g->params.max_tokens > 1};
    clf_decode_input *sources = NULL;
    if (session->is_decoding_rehearsed || g->active == 0)
        return CLF_OK;
    if (session->model->network->config.decoder.has_source) {
        CLF_TRY(clfi_alloc(g->active, sizeof *sources, "texts", &sources));
        list_sources(g, 0, sources);
        plan.sources = sources;
    }
    list_inputs(g);
    const clf_status st = clfi_decode_rehearse(session->decoding, &plan, &session->is_decoding_rehearsed);
    free(sources);
    return st;
}

/* A clf_decode_chooser's give: prompts that wait join, their sources encoded together. */
static clf_status give(void *user, const clf_decode_input **out_inputs, size_t *out_count)
{
    generation *g = user;
    const size_t waiting = g->next, before = g->active;
    CLF_TRY(join(g));
    if (g->next > waiting)
        CLF_TRY(reserve(g));
    CLF_TRY(rehearse(g));
    if (g->session->model->network->config.decoder.has_source)
        CLF_TRY(clfi_decode_sources(g->session->decoding, g->inputs, list_sources(g, before, g->inputs)));
    list_inputs(g);
    *out_inputs = g->inputs;
    *out_count = g->active;
    return CLF_OK;
}

/* A clf_decode_chooser's take: those whose tokens were all given get a new one. */
static clf_status take(void *user, const clf_decode_input *inputs, size_t count, const clf_view *logits)
{
    generation *g = user;
    const size_t vocabulary = (size_t)g->session->model->network->config.target.vocabulary;
    CLF_TRY(clfi_buffer_read(logits->buffer, (size_t)logits->offset * sizeof(float), g->logits, count * vocabulary * sizeof(float)));
    for (size_t i = count; i-- > 0;) { /* from the last, whose place a run that ends takes */
        text_run *run = &g->runs[i];
        int32_t token;
        run->given += (size_t)inputs[i].count;
        if (run->given < run->count)
            continue;
        const clf_text_state text = {run->tokens, run->count, run->prompt_count,
                                     run->count + 1 - run->prompt_count >= g->params.max_tokens};
        clfi_generation_config_constrain(&g->session->model->generation, &text, g->logits + i * vocabulary, vocabulary);
        CLF_TRY(blame(
            g, run,
            clfi_sampler_choose(g->sampler, g->logits + i * vocabulary, run->tokens, run->count, run->count - run->prompt_count, &token)));
        CLF_TRY(take_token(g, i, token));
    }
    return CLF_OK;
}

/* A clf_hypothesis_sink: the best hypothesis becomes its run's, to be told when all sources are done. */
static clf_status take_best(void *user, size_t source, size_t rank, const clf_hypothesis *hypothesis)
{
    text_run *run = &((generation *)user)->runs[source];
    if (rank > 0)
        return CLF_OK;
    CLF_TRY(clfi_alloc(hypothesis->count, sizeof *run->found, "tokens", &run->found));
    memcpy(run->found, hypothesis->tokens, hypothesis->count * sizeof *run->found);
    run->found_count = hypothesis->count;
    return CLF_OK;
}

/* Tells the last run's text, which ends it. */
static clf_status tell_found(generation *g)
{
    const size_t index = g->active - 1;
    for (size_t i = 0; g->active > index && i < g->runs[index].found_count; i++)
        CLF_TRY(take_token(g, index, g->runs[index].found[i]));
    return g->active > index ? finish_run(g, index, CLF_FINISH_LENGTH) : CLF_OK;
}

static clf_status search_window(generation *g, clf_beam_search *search)
{
    clf_decode_input *sources = g->inputs;
    int32_t *ids = NULL, *offsets = NULL, all = 0;
    clf_status st;
    CLF_TRY(join(g));
    const size_t count = list_sources(g, 0, sources);
    CLF_GOTO(clfi_alloc(count + 1, sizeof *offsets, "texts", &offsets));
    for (size_t i = 0; i < count; i++)
        all += sources[i].count;
    CLF_GOTO(clfi_alloc((size_t)all, sizeof *ids, "texts", &ids));
    all = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(ids + all, sources[i].tokens, (size_t)sources[i].count * sizeof *ids);
        offsets[i + 1] = all += sources[i].count;
    }
    CLF_GOTO(clfi_beam_search_run(search, ids, offsets, count, take_best, g));
    while (g->active > 0)
        CLF_GOTO(tell_found(g));
done:
    free(ids);
    free(offsets);
    return st;
}

/* All prompts by beam search. */
static clf_status generate_by_beams(generation *g)
{
    const clf_model *model = g->session->model;
    const clf_generation_config *config = &model->generation;
    const clf_beam_rules rules = {.width = (int32_t)g->params.beams,
                                  .begin = config->start,
                                  .begin_count = config->start_count,
                                  .ends = config->ends,
                                  .end_count = config->end_count,
                                  .longest = g->params.max_tokens,
                                  .length_penalty = config->length_penalty,
                                  .repeat_penalty = g->params.repeat_penalty,
                                  .stop = config->stop,
                                  .is_refilled = true,
                                  .config = config};
    clf_beam_search *search;
    CLF_TRY(clfi_beam_search_create(g->session->context, model->network, &rules, clfi_model_cache(model), &search));
    clf_status st = CLF_OK;
    while (st == CLF_OK && g->next < g->count)
        st = search_window(g, search);
    clfi_beam_search_destroy(search);
    return st;
}

/* A sequence of the caller's goes with what is asked for. */
static clf_status check_sequence(const generation *g)
{
    const clf_sequence *kept = g->params.sequence;
    if (!kept)
        return CLF_OK;
    if (kept->session != g->session || g->count > 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: a sequence %s", g->count > 1 ? "goes with one prompt alone" : "is of another session");
    if (g->session->model->network->config.decoder.has_source)
        CLF_FAIL(CLF_UNSUPPORTED, "generate: model_type \"%s\" has an encoder: expected no sequence",
                 g->session->model->family->model_type);
    return CLF_OK;
}

/* How many beams there are; 1: tokens are chosen one by one. */
static clf_status settle_beams(const clf_model *model, clf_generate_params *params)
{
    const bool has_chance = params->temperature > 0.0f || (params->repeat_penalty != 0.0f && params->repeat_penalty != 1.0f);
    const bool has_source = model->network->config.decoder.has_source, is_asked = params->beams > 1;
    if (params->beams == 0)
        params->beams = has_source && !has_chance ? model->generation.beams : 1;
    if (params->beams > CLFI_BEAM_MOST)
        CLF_FAIL(is_asked ? CLF_INVALID_ARGUMENT : CLF_UNSUPPORTED, "generate: %zu beams%s: expected 1 to %d", params->beams,
                 is_asked ? "" : " (num_beams)", CLFI_BEAM_MOST);
    if (is_asked && has_chance)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: %zu beams: expected neither a temperature nor a penalty of repetitions", params->beams);
    if (is_asked && !has_source)
        CLF_FAIL(CLF_UNSUPPORTED, "generate: %zu beams: model_type \"%s\" has no encoder, expected 1", params->beams,
                 model->family->model_type);
    return CLF_OK;
}

static clf_status create(generation *g)
{
    const clf_model *model = g->session->model;
    const size_t vocabulary = (size_t)model->network->config.target.vocabulary;
    CLF_TRY(clfi_generation_ready(g->session));
    CLF_TRY(settle_beams(model, &g->params));
    clfi_generation_settle_penalty(model, &g->params);
    CLF_TRY(clfi_sampler_create(&g->params, vocabulary, &g->sampler));
    CLF_TRY(clf_encoding_create(&g->encoding));
    g->most = g->params.batch ? g->params.batch : CLFI_BATCH_SEQUENCES;
    g->most = g->most < g->count ? g->most : g->count;
    CLF_TRY(clfi_alloc(g->most, sizeof *g->runs, "texts", &g->runs));
    CLF_TRY(clfi_alloc(g->most, sizeof *g->inputs, "texts", &g->inputs));
    size_t count;
    if (!clfi_mul_size(g->most, vocabulary, &count))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "E_OVERFLOW: logits of %zu texts", g->most);
    return clfi_alloc(count, sizeof *g->logits, "logits", &g->logits);
}

static void destroy(generation *g)
{
    for (size_t i = 0; i < g->active; i++) {
        if (!g->params.sequence && g->runs[i].sequence >= 0 && clfi_decode_drop(g->session->decoding, g->runs[i].sequence) != CLF_OK)
            continue; /* it has none: nothing to give back */
        clear_run(&g->runs[i]);
    }
    clfi_sampler_destroy(g->sampler);
    clf_encoding_destroy(g->encoding);
    free(g->runs);
    free(g->inputs);
    free(g->logits);
}

clf_status clf_generate(clf_session *session, const clf_text *prompts, size_t count, const clf_generate_params *params,
                        clf_generate_callback on_token, void *user)
{
    static const clf_decode_chooser chooser = {give, take};
    generation g = {.session = session, .prompts = prompts, .count = count, .on_token = on_token, .user = user};
    if (!session || (count && !prompts))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: session and prompts must not be NULL");
    CLF_TRY(clfi_generate_params_check(prompts, count, params, &g.params));
    clf_status st = create(&g);
    if (st == CLF_OK)
        st = check_sequence(&g);
    if (st == CLF_OK)
        g.held = (size_t)clfi_generation_held(session);
    const bool uses_sequence = st == CLF_OK && g.params.sequence;
    if (st == CLF_OK && g.params.beams > 1)
        st = generate_by_beams(&g);
    else if (st == CLF_OK)
        st = clfi_decode_loop(g.session->decoding, &chooser, &g);
    destroy(&g);
    if (uses_sequence && st != CLF_OK) {
        const clf_status emptied = clf_sequence_keep(g.params.sequence, 0);
        (void)emptied; /* it always has so many */
    }
    return st;
}
