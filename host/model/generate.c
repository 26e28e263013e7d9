/* SPDX-License-Identifier: MIT */
/* Generates text from several prompts: by requests of a scheduler, or by beam searches of an encoder-decoder. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/beam_search.h"
#include "model/scheduler.h"
#include "model/sequence.h"

typedef struct generation {
    clf_session *session;
    const clf_text *prompts;
    size_t count, next;                         /* prompts; the next that waits */
    size_t places;                              /* prompts that run together */
    clf_generate_params params, request_params; /* of the call; of each request */
    clf_generate_callback on_token;
    void *user;
    clf_request **requests; /* [count]: NULL before its prompt becomes a request and after the request has ended */
    clf_status failed;      /* of the request that ends the call, ... */
    size_t failed_prompt;
    char reason[CLFI_REQUEST_REASON_BYTES]; /* ... and why */
} generation;

static clf_status blame(const generation *g, size_t prompt, clf_status st)
{
    return clfi_generation_blame(&g->params, "generate: prompts", prompt, st);
}

static int tell(const generation *g, const clf_generated *step)
{
    return g->on_token ? g->on_token(g->user, step) : 0;
}

/* A clf_generate_callback: passes each step on to the caller's. The first request that fails is kept instead, because it ends the call. */
static int take_step(void *user, const clf_generated *step)
{
    generation *g = user;
    clf_request *request = g->requests[step->prompt];
    if (step->finish == CLF_FINISH_NONE)
        return tell(g, step);
    if (step->finish != CLF_FINISH_REFUSED) {
        tell(g, step);
    } else if (g->failed == CLF_OK) {
        g->failed = request->status;
        g->failed_prompt = step->prompt;
        memcpy(g->reason, request->reason, sizeof g->reason);
    }
    g->requests[step->prompt] = NULL;
    clfi_request_destroy(request);
    return 0;
}

/* Makes the next prompt's request. *out NULL: the prompt was refused, and the caller was told (skip_refused). */
static clf_status make_request(generation *g, clf_request **out)
{
    const size_t prompt = g->next;
    *out = NULL;
    if (!g->requests[prompt]) {
        const clf_prompt text = {.text = g->prompts[prompt]};
        const clf_status st = clfi_request_create(g->session, &g->request_params, &text, prompt, take_step, g, &g->requests[prompt]);
        if ((st == CLF_INVALID_ARGUMENT || st == CLF_UNSUPPORTED) && g->params.skip_refused) {
            g->next++;
            tell(g, &(clf_generated){prompt, -1, {"", 0}, CLF_FINISH_REFUSED});
            return CLF_OK;
        }
        CLF_TRY(blame(g, prompt, st));
    }
    *out = g->requests[prompt];
    return CLF_OK;
}

/* A clf_request_supply: the next prompt that is not refused. */
static clf_status supply(void *user, clf_scheduler *scheduler)
{
    generation *g = user;
    clf_request *request = NULL;
    while (g->next < g->count && !request)
        CLF_TRY(make_request(g, &request));
    if (!request)
        return CLF_OK;
    g->next++;
    return clfi_scheduler_add(scheduler, request);
}

static clf_status generate_by_requests(generation *g)
{
    const clf_scheduler_params params = {.places = g->places, .supply = supply, .user = g};
    clf_scheduler *scheduler;
    CLF_TRY(clfi_scheduler_create(g->session, &params, &scheduler));
    clf_status st = CLF_OK;
    while (st == CLF_OK && g->failed == CLF_OK && (g->next < g->count || clfi_scheduler_load(scheduler) > 0))
        st = clfi_scheduler_step(scheduler);
    clfi_scheduler_destroy(scheduler);
    if (st == CLF_OK && g->failed != CLF_OK)
        st = blame(g, g->failed_prompt, clfi_fail(g->failed, "%s", g->reason));
    return st;
}

/* ---- Beams ---- */

typedef struct window {
    clf_request **requests; /* [places] */
    size_t count;
} window;

/* Fills the window with requests whose keys and values have room together: at least one, unless all prompts are refused. */
static clf_status fill_window(generation *g, window *w)
{
    uint64_t rows = clfi_generation_held(g->session);
    for (w->count = 0; w->count < g->places && g->next < g->count;) {
        clf_request *request;
        CLF_TRY(make_request(g, &request));
        if (!request)
            continue;
        rows += request->longest;
        const clf_status room = clfi_generation_fits(g->session, g->places * g->params.beams, rows);
        if (room != CLF_OK)
            return w->count > 0 ? CLF_OK : blame(g, g->next, room);
        w->requests[w->count++] = request;
        g->next++;
    }
    return CLF_OK;
}

/* A clf_hypothesis_sink: the best hypothesis becomes its request's text. */
static clf_status take_best(void *user, size_t source, size_t rank, const clf_hypothesis *hypothesis)
{
    clf_request *request = ((window *)user)->requests[source];
    clf_finish finish = CLF_FINISH_NONE;
    if (rank > 0)
        return CLF_OK;
    for (size_t i = 0; i < (size_t)hypothesis->count && finish == CLF_FINISH_NONE; i++)
        CLF_TRY(clfi_request_push(request, hypothesis->tokens[i], &finish));
    if (finish == CLF_FINISH_NONE)
        CLF_TRY(clfi_request_finish(request, CLF_FINISH_LENGTH, &finish));
    ((window *)user)->requests[source] = NULL; /* clfi_request_end may destroy it */
    clfi_request_end(request, finish, CLF_OK);
    return CLF_OK;
}

static clf_status rehearse_beams(const generation *g, clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t count)
{
    clf_status st;
    do
        st = clfi_beam_search_rehearse(search, ids, offsets, count);
    while (clfi_session_reload(g->session, &st));
    return st;
}

/* Removes requests from the window that ended before the device was lost; the search is repeated for the others. */
static void drop_ended(window *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++)
        if (w->requests[i])
            w->requests[kept++] = w->requests[i];
    w->count = kept;
}

static clf_status search_requests(generation *g, clf_beam_search *search, window *w)
{
    int32_t *ids = NULL, *offsets = NULL;
    size_t all = 0;
    clf_status st;
    drop_ended(w);
    if (w->count == 0)
        return CLF_OK;
    for (size_t i = 0; i < w->count; i++)
        all += w->requests[i]->source_count;
    CLF_GOTO(clfi_alloc(w->count + 1, sizeof *offsets, "texts", &offsets));
    CLF_GOTO(clfi_alloc(all, sizeof *ids, "texts", &ids));
    for (size_t i = 0; i < w->count; i++) {
        const clf_request *request = w->requests[i];
        memcpy(ids + offsets[i], request->source, request->source_count * sizeof *ids);
        offsets[i + 1] = offsets[i] + (int32_t)request->source_count;
    }
    CLF_GOTO(rehearse_beams(g, search, ids, offsets, w->count));
    CLF_GOTO(clfi_beam_search_run(search, ids, offsets, w->count, take_best, w));
done:
    free(ids);
    free(offsets);
    return st;
}

static clf_status search_window(generation *g, clf_beam_search *search, window *w)
{
    clf_status st;
    CLF_TRY(fill_window(g, w));
    do {
        st = clfi_session_refresh(g->session);
        if (st == CLF_OK)
            st = search_requests(g, search, w);
    } while (clfi_session_recover(g->session, &st));
    return st;
}

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
    clf_beam_search *search = NULL;
    window w = {.count = 0};
    clf_status st;
    CLF_GOTO(clfi_alloc(g->places, sizeof *w.requests, "texts", &w.requests));
    CLF_GOTO(clfi_beam_search_create(g->session->context, model->network, &rules, clfi_model_cache(model), &search));
    while (st == CLF_OK && g->next < g->count)
        st = search_window(g, search, &w);
done:
    clfi_beam_search_destroy(search);
    free(w.requests);
    return st;
}

/* Settles params->beams: above 1 a beam search; 1: tokens are chosen one by one. */
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
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: %zu beams: expected temperature 0 and no repetition penalty", params->beams);
    if (is_asked && !has_source)
        CLF_FAIL(CLF_UNSUPPORTED, "generate: %zu beams: model_type \"%s\" has no encoder, expected 1", params->beams,
                 model->family->model_type);
    return CLF_OK;
}

static clf_status prepare(generation *g)
{
    CLF_TRY(clfi_generation_ready(g->session));
    CLF_TRY(settle_beams(g->session->model, &g->params));
    CLF_TRY(clfi_request_check(g->session, &g->params));
    if (g->params.sequence && g->count > 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: sequence: expected a single prompt");
    g->request_params = g->params;
    g->request_params.beams = 1;
    g->request_params.failed_text = NULL;
    g->places = g->params.batch ? g->params.batch : CLFI_BATCH_SEQUENCES;
    g->places = g->places < g->count ? g->places : g->count;
    return clfi_alloc(g->count, sizeof *g->requests, "texts", &g->requests);
}

static clf_status work(generation *g)
{
    const clf_status st = g->params.beams > 1 ? generate_by_beams(g) : generate_by_requests(g);
    for (size_t i = 0; i < g->count; i++)
        clfi_request_destroy(g->requests[i]);
    if (st != CLF_OK && g->params.sequence) {
        const clf_status emptied = clf_sequence_keep(g->params.sequence, 0);
        (void)emptied; /* cannot fail: every sequence has 0 tokens or more */
    }
    return st;
}

clf_status clf_session_generate(clf_session *session, const clf_text *prompts, size_t count, const clf_generate_params *params,
                                clf_generate_callback on_token, void *user)
{
    generation g = {.session = session, .prompts = prompts, .count = count, .on_token = on_token, .user = user};
    if (!session || (count && !prompts))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "generate: session and prompts must not be NULL");
    CLF_TRY(clfi_generate_params_check(prompts, count, params, &g.params));
    if (g.params.failed_text)
        *g.params.failed_text = count;
    clf_status st = prepare(&g);
    if (st == CLF_OK && count > 0)
        st = work(&g);
    free(g.requests);
    return st;
}
