/* SPDX-License-Identifier: MIT */
/* Implements the scheduler: gives requests places and room for their keys and values, and runs one pass after another. */
#include "model/scheduler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/choice.h"
#include "model/decode_loop.h"
#include "model/kept_prefixes.h"
#include "model/sequence.h"

enum { ROOM_TO_GROW = 8 /* tokens that a text has room for when it joins */ };

struct clf_scheduler {
    clf_session *session;
    uint32_t opening; /* the session's `opening` when the requests were given their tokens */
    bool is_warm;     /* clfi_scheduler_warm was called */
    clf_scheduler_params params;
    clf_sampler *sampler;
    clf_request **running; /* [places]: those below `active` are running */
    size_t active;
    clf_request **waiting; /* [waiting_count], the longest wait first */
    size_t waiting_count, waiting_capacity;
    size_t full;               /* above 0: beside so many requests the next one's keys and values had no room */
    uint64_t others;           /* cache rows of the session's other sequences */
    clf_decode_input *inputs;  /* [places] */
    clf_wanted_logits *wanted; /* [places]: of the current pass */
    clf_kept_prefixes prefixes;
    uint64_t turns;
    clf_choice choice;
    float *logits; /* [V] */
    clf_scheduler_stats stats;
};

static size_t vocabulary_of(const clf_scheduler *s)
{
    return (size_t)s->session->model->network->config.target.vocabulary;
}

/* Reserves all memory that sequences will need within cache_rows. */
static clf_status hold_cache(clf_scheduler *s)
{
    const clf_network_config *config = &s->session->model->network->config;
    const size_t positions = (size_t)config->target.max_positions, rows = s->params.cache_rows;
    if (config->decoder.has_source)
        CLF_FAIL(CLF_UNSUPPORTED, "scheduler: cache_rows: expected 0 for an encoder-decoder");
    s->prefixes = (clf_kept_prefixes){.batch = s->session->decoding, .most_rows = s->params.kept_rows < rows ? s->params.kept_rows : rows};
    return clfi_decode_hold(s->session->decoding, (int64_t)rows, s->params.places, positions < rows ? positions : rows);
}

static clf_status make(clf_scheduler *s)
{
    CLF_TRY(clfi_sampler_create(vocabulary_of(s), &s->sampler));
    CLF_TRY(clfi_alloc(s->params.places, sizeof *s->running, "texts", &s->running));
    CLF_TRY(clfi_alloc(s->params.places, sizeof *s->inputs, "texts", &s->inputs));
    CLF_TRY(clfi_alloc(s->params.places, sizeof *s->wanted, "texts", &s->wanted));
    if (s->params.cache_rows)
        CLF_TRY(hold_cache(s));
    return clfi_alloc(vocabulary_of(s), sizeof *s->logits, "logits", &s->logits);
}

clf_status clfi_scheduler_create(clf_session *session, const clf_scheduler_params *params, clf_scheduler **out)
{
    clf_scheduler *s;
    CLF_TRY(clfi_generation_ready(session));
    CLF_TRY(clfi_alloc(1, sizeof *s, "scheduler", &s));
    s->session = session;
    s->opening = session->opening;
    s->choice = clfi_choice(session->context);
    s->params = *params;
    s->params.places = params->places ? params->places : CLFI_BATCH_SEQUENCES;
    s->params.pass_tokens = params->pass_tokens ? params->pass_tokens : CLFI_PASS_TOKENS;
    const clf_status st = make(s);
    if (st == CLF_OK)
        *out = s;
    else
        clfi_scheduler_destroy(s);
    return st;
}

void clfi_scheduler_destroy(clf_scheduler *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->active; i++) {
        clf_request *r = s->running[i];
        if (!r->params.sequence && r->sequence >= 0) {
            const clf_status dropped = clfi_decode_drop(s->session->decoding, r->sequence);
            (void)dropped; /* cannot fail: the batch has the sequence */
        }
        r->sequence = -1;
    }
    clfi_prefixes_clear(&s->prefixes);
    clfi_sampler_destroy(s->sampler);
    free(s->running);
    free(s->waiting);
    clfi_choice_clear(&s->choice);
    free(s->inputs);
    free(s->wanted);
    free(s->logits);
    free(s);
}

clf_status clfi_scheduler_add(clf_scheduler *s, clf_request *request)
{
    if (request->session != s->session)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "scheduler: a request is of another session");
    CLF_TRY(clfi_grow(&s->waiting, &s->waiting_capacity, s->waiting_count + 1, sizeof *s->waiting, "requests"));
    s->waiting[s->waiting_count++] = request;
    return CLF_OK;
}

size_t clfi_scheduler_load(const clf_scheduler *s)
{
    return s->active + s->waiting_count;
}

/* ---- Leaving ---- */

static void leave_waiting(clf_scheduler *s, size_t index)
{
    s->waiting_count--;
    memmove(s->waiting + index, s->waiting + index + 1, (s->waiting_count - index) * sizeof *s->waiting);
}

/* Gives the request's cache rows back, or keeps them for prompts that begin alike. A caller's sequence keeps the tokens that were given. */
static clf_status release(clf_scheduler *s, clf_request *r, bool is_good)
{
    clf_sequence *kept = r->params.sequence;
    const int32_t sequence = r->sequence;
    r->sequence = -1;
    if (!kept && is_good && s->prefixes.most_rows) {
        clfi_prefixes_keep(&s->prefixes, sequence, r->tokens, r->given);
        return CLF_OK;
    }
    if (!kept)
        return clfi_decode_drop(s->session->decoding, sequence);
    CLF_TRY(clfi_sequence_reserve(kept, r->given));
    memcpy(kept->tokens, r->tokens, r->given * sizeof *kept->tokens);
    kept->count = r->given;
    return CLF_OK;
}

/* Ends a running request. The last running one moves to its index. */
static clf_status end_running(clf_scheduler *s, size_t index, clf_finish finish, clf_status status)
{
    clf_request *r = s->running[index];
    const clf_status released = release(s, r, finish != CLF_FINISH_REFUSED);
    s->running[index] = s->running[--s->active];
    clfi_request_end(r, finish, status);
    return released;
}

static clf_status end_cancelled(clf_scheduler *s)
{
    for (size_t i = s->active; i-- > 0;)
        if (atomic_load(&s->running[i]->is_cancelled))
            CLF_TRY(end_running(s, i, CLF_FINISH_CALLER, CLF_OK));
    for (size_t i = 0; i < s->waiting_count;) {
        clf_request *r = s->waiting[i];
        if (atomic_load(&r->is_cancelled)) {
            leave_waiting(s, i);
            clfi_request_end(r, CLF_FINISH_CALLER, CLF_OK);
        } else {
            i++;
        }
    }
    return CLF_OK;
}

/* ---- Joining ---- */

/* How many of the prompt's tokens the caller's sequence has already. The prompt's last token does not count: it is always given. */
static size_t shared_tokens(const clf_request *r)
{
    return r->params.sequence ? clfi_sequence_shared(r->params.sequence, r->tokens, r->count - 1) : 0;
}

/* Cache rows that belong to none of the scheduler's requests, nor to the sequence that `next` brings. */
static uint64_t rows_of_others(const clf_scheduler *s, const clf_request *next)
{
    const clf_decode_batch *batch = s->session->decoding;
    const int64_t used = clfi_decode_usage(batch).used;
    const clf_sequence *kept = next->params.sequence;
    int64_t rows = kept ? clfi_decode_rows_beside(batch, kept->number, (int32_t)shared_tokens(next)) : used;
    for (size_t i = 0; i < s->active; i++)
        rows -= used - clfi_decode_rows_beside(batch, s->running[i]->sequence, (int32_t)s->running[i]->given);
    return (uint64_t)rows;
}

static size_t rows_to_join(const clf_request *r)
{
    return r->count + ROOM_TO_GROW < r->longest ? r->count + ROOM_TO_GROW : r->longest;
}

/* OUT_OF_MEMORY: no room within cache_rows. Texts count with the rows that they need to join, not with those that they may need later; only
 * a text that would run alone must fit as a whole. */
static clf_status find_rows(const clf_scheduler *s, const clf_request *next)
{
    size_t sum = s->active ? rows_to_join(next) : next->longest;
    for (size_t i = 0; i < s->active; i++)
        sum += rows_to_join(s->running[i]);
    if (sum > s->params.cache_rows)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "a text of %zu tokens: the cache has room for %zu", sum, s->params.cache_rows);
    return CLF_OK;
}

/* OUT_OF_MEMORY: no room beside the running requests. */
static clf_status find_room(clf_scheduler *s, const clf_request *next)
{
    if (s->params.cache_rows)
        return find_rows(s, next);
    s->others = rows_of_others(s, next);
    uint64_t sum = s->others + next->longest;
    for (size_t i = 0; i < s->active; i++)
        sum += s->running[i]->longest;
    return clfi_generation_fits(s->session, s->params.places, sum);
}

/* Opens a new sequence, with the beginning of the prompt if that was kept; or takes the caller's, with the tokens that it shares with the
 * prompt. */
static clf_status open_sequence(clf_scheduler *s, clf_request *r)
{
    clf_sequence *kept = r->params.sequence;
    if (!kept)
        CLF_TRY(clfi_prefixes_fork(&s->prefixes, r->tokens, r->count - 1, &r->sequence, &r->given));
    if (!kept && r->given > 0) {
        s->stats.shared += r->given;
        return CLF_OK;
    }
    if (!kept)
        return clfi_decode_open(s->session->decoding, &r->sequence);
    r->given = shared_tokens(r);
    r->sequence = kept->number;
    return clf_sequence_keep(kept, r->given);
}

/* Gives the request that waits longest a place, or ends it if it has no room although nothing runs. */
static clf_status join_next(clf_scheduler *s)
{
    clf_request *next = s->waiting[0];
    const clf_status room = find_room(s, next);
    if (room != CLF_OK && s->active > 0) {
        s->full = s->active;
        return CLF_OK;
    }
    leave_waiting(s, 0);
    if (room != CLF_OK) {
        clfi_request_end(next, CLF_FINISH_REFUSED, room);
        return CLF_OK;
    }
    s->running[s->active++] = next;
    if (next->turn == 0)
        next->turn = ++s->turns;
    const clf_status opened = open_sequence(s, next);
    return opened;
}

static clf_status join(clf_scheduler *s)
{
    if (s->active < s->full)
        s->full = 0;
    while (s->active < s->params.places && s->full == 0) {
        if (s->waiting_count == 0 && s->params.supply)
            CLF_TRY(s->params.supply(s->params.user, s));
        if (s->waiting_count == 0)
            return CLF_OK;
        CLF_TRY(join_next(s));
    }
    return CLF_OK;
}

/* Reserves memory for the current pass and those after it, so that they allocate nothing. */
static clf_status reserve(const clf_scheduler *s)
{
    size_t rows = (size_t)s->others, longest = 0;
    if (s->params.cache_rows)
        return CLF_OK; /* hold_cache took it */
    for (size_t i = 0; i < s->active; i++) {
        const size_t length = s->running[i]->longest + s->running[i]->source_count;
        rows += length;
        longest = length > longest ? length : longest;
    }
    return clfi_decode_reserve(s->session->decoding, (int64_t)rows, s->active, longest);
}

/* ---- A pass ---- */

/* The sources of the requests from `first` on. */
static size_t list_sources(const clf_scheduler *s, size_t first, clf_decode_input *out)
{
    size_t count = 0;
    for (size_t i = first; i < s->active; i++)
        out[count++] = (clf_decode_input){s->running[i]->sequence, s->running[i]->source, (int32_t)s->running[i]->source_count};
    return count;
}

/* Lists each request's input: its last token, or the next piece of its prompt. */
static void list_inputs(const clf_scheduler *s)
{
    size_t left = s->params.pass_tokens;
    for (size_t i = 0; i < s->active; i++) {
        const clf_request *r = s->running[i];
        const size_t missing = r->count - r->given, behind = s->active - i - 1;
        const size_t most = left > behind ? left - behind : 1, piece = missing < most ? missing : most;
        s->inputs[i] = (clf_decode_input){r->sequence, r->tokens + r->given, (int32_t)piece};
        left -= piece < left ? piece : left;
    }
}

/* Takes the rows back from the text that joined last, which then waits before all others. */
static clf_status put_back(clf_scheduler *s)
{
    size_t last = 0;
    for (size_t i = 1; i < s->active; i++)
        if (s->running[i]->turn > s->running[last]->turn)
            last = i;
    clf_request *r = s->running[last];
    CLF_TRY(clfi_grow(&s->waiting, &s->waiting_capacity, s->waiting_count + 1, sizeof *s->waiting, "requests"));
    CLF_TRY(clfi_decode_drop(s->session->decoding, r->sequence));
    r->sequence = -1;
    r->given = 0;
    memmove(s->waiting + 1, s->waiting, s->waiting_count++ * sizeof *s->waiting);
    s->waiting[0] = r;
    s->running[last] = s->running[--s->active];
    s->full = s->active; /* until another one ends */
    s->stats.put_back++;
    return CLF_OK;
}

/* Makes room for the current pass within cache_rows. */
static clf_status fit_inputs(clf_scheduler *s)
{
    for (;;) {
        int64_t rows = clfi_decode_usage(s->session->decoding).used;
        for (size_t i = 0; i < s->active; i++)
            rows += s->inputs[i].count;
        if (s->active == 0 || rows <= (int64_t)s->params.cache_rows)
            return CLF_OK;
        if (clfi_prefixes_drop_oldest(&s->prefixes))
            continue;
        if (s->active == 1)
            return end_running(s, 0, CLF_FINISH_REFUSED,
                               clfi_fail(CLF_OUT_OF_MEMORY, "no room in the cache: all %zu tokens are in use", s->params.cache_rows));
        CLF_TRY(put_back(s));
        list_inputs(s);
    }
}

/* Lists the logits that the next choice of each request needs; none while its prompt goes on. */
static void list_wanted(const clf_scheduler *s, const clf_decode_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const clf_request *r = s->running[i];
        const bool is_read = r->given + (size_t)inputs[i].count == r->count;
        s->wanted[i] = is_read ? clfi_request_wants(r) : (clf_wanted_logits){0};
    }
}

/* A clf_decode_plan's score: all requests choose. */
static clf_status rehearse_choice(void *user, const clf_view *logits)
{
    clf_scheduler *s = user;
    for (size_t i = 0; i < s->active; i++)
        s->wanted[i] = clfi_request_wants(s->running[i]);
    return clfi_choice_launch(&s->choice, logits, s->wanted, s->active);
}

/* Rehearses the pass of the first requests and a later one, so that their kernels are known before the first is compiled. */
static clf_status rehearse(clf_scheduler *s)
{
    clf_session *session = s->session;
    clf_decode_plan plan = {.inputs = s->inputs, .count = s->active, .score = rehearse_choice, .user = s};
    clf_decode_input *sources = NULL;
    if (session->is_decoding_rehearsed || s->active == 0)
        return CLF_OK;
    for (size_t i = 0; i < s->active; i++)
        plan.following |= s->running[i]->params.max_tokens > 1;
    if (session->model->network->config.decoder.has_source) {
        CLF_TRY(clfi_alloc(s->active, sizeof *sources, "texts", &sources));
        list_sources(s, 0, sources);
        plan.sources = sources;
    }
    list_inputs(s);
    const clf_status st = clfi_session_rehearse(session, &plan);
    free(sources);
    return st;
}

/* A clf_decode_chooser's give: requests leave and join, sources of those that join are encoded together. */
static clf_status give(void *user, const clf_decode_input **out_inputs, size_t *out_count)
{
    clf_scheduler *s = user;
    CLF_TRY(end_cancelled(s));
    const size_t before = s->active;
    CLF_TRY(join(s));
    if (s->active > before)
        CLF_TRY(reserve(s));
    CLF_TRY(rehearse(s));
    if (s->session->model->network->config.decoder.has_source)
        CLF_TRY(clfi_decode_sources(s->session->decoding, s->inputs, list_sources(s, before, s->inputs)));
    list_inputs(s);
    if (s->params.cache_rows)
        CLF_TRY(fit_inputs(s));
    *out_inputs = s->inputs;
    *out_count = s->active;
    return CLF_OK;
}

/* Chooses a request's next token from its largest logits if they decide it, else from all. *out_chosen: a fault of this request alone. */
static clf_status choose(clf_scheduler *s, size_t index, const clf_view *logits, clf_status *out_chosen, int32_t *out)
{
    clf_request *r = s->running[index];
    const bool has_best = s->wanted[index].best > 0;
    const clf_best best = has_best ? clfi_choice_row_of(&s->choice, index) : (clf_best){.count = 0};
    *out_chosen = CLF_OK;
    if (has_best && isfinite(best.sum) && clfi_request_choose_best(r, s->sampler, &best, out))
        return CLF_OK;
    s->stats.whole_rows++;
    CLF_TRY(clfi_choice_read_row(&s->choice, logits, index, s->logits));
    *out_chosen = clfi_request_choose(r, s->sampler, s->logits, out);
    return CLF_OK;
}

/* Chooses the next token of a request whose tokens were all given. */
static clf_status advance(clf_scheduler *s, size_t index, const clf_view *logits)
{
    clf_finish finish;
    clf_status chosen;
    int32_t token;
    CLF_TRY(choose(s, index, logits, &chosen, &token));
    if (chosen != CLF_OK)
        return end_running(s, index, CLF_FINISH_REFUSED, chosen);
    s->stats.tokens++;
    CLF_TRY(clfi_request_push(s->running[index], token, &finish));
    return finish != CLF_FINISH_NONE ? end_running(s, index, finish, CLF_OK) : CLF_OK;
}

/* A clf_decode_chooser's take. */
static clf_status take(void *user, const clf_decode_input *inputs, size_t count, const clf_view *logits)
{
    clf_scheduler *s = user;
    s->stats.passes++;
    list_wanted(s, inputs, count);
    CLF_TRY(clfi_choice_find(&s->choice, logits, s->wanted, count));
    for (size_t i = count; i-- > 0;) { /* from the last: when a request ends, the last one takes its place */
        clf_request *r = s->running[i];
        r->given += (size_t)inputs[i].count;
        if (r->given == r->count)
            CLF_TRY(advance(s, i, logits));
    }
    return CLF_OK;
}

clf_scheduler_stats clfi_scheduler_get_stats(const clf_scheduler *s)
{
    clf_scheduler_stats stats = s->stats;
    stats.read_bytes = s->choice.read_bytes;
    return stats;
}

static clf_status warm(const clf_scheduler *s)
{
    const clf_scheduler_params *p = &s->params;
    return clfi_session_warm(s->session, &(clf_decode_sizes){p->places, p->pass_tokens, p->cache_rows});
}

/* After the device was lost and opened again, gives the running requests all of their tokens again. */
static clf_status refresh(clf_scheduler *s)
{
    CLF_TRY(clfi_session_refresh(s->session));
    if (s->opening == s->session->opening)
        return CLF_OK;
    const uint64_t read_bytes = s->choice.read_bytes;
    clfi_choice_clear(&s->choice);
    s->choice = clfi_choice(s->session->context);
    s->choice.read_bytes = read_bytes;
    for (size_t i = 0; i < s->active; i++)
        s->running[i]->given = 0;
    clfi_prefixes_clear(&s->prefixes); /* their tokens are gone */
    if (s->params.cache_rows)
        CLF_TRY(hold_cache(s));
    if (s->session->model->network->config.decoder.has_source)
        CLF_TRY(clfi_decode_sources(s->session->decoding, s->inputs, list_sources(s, 0, s->inputs)));
    if (s->active > 0)
        CLF_TRY(reserve(s));
    s->opening = s->session->opening;
    return s->is_warm ? warm(s) : CLF_OK;
}

clf_status clfi_scheduler_warm(clf_scheduler *s)
{
    s->is_warm = true;
    clf_status st = warm(s);
    while (clfi_session_recover(s->session, &st))
        st = refresh(s);
    return st;
}

clf_status clfi_scheduler_step(clf_scheduler *s)
{
    static const clf_decode_chooser chooser = {give, take};
    bool is_done;
    clf_status st;
    do {
        st = refresh(s);
        if (st == CLF_OK)
            st = clfi_decode_step(s->session->decoding, &chooser, s, &is_done);
    } while (clfi_session_recover(s->session, &st));
    return st;
}
