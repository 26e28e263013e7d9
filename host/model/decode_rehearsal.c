/* SPDX-License-Identifier: MIT */
/* Rehearses the first pass and a later pass of decoding, or passes of all sizes. */
#include "model/decode_rehearsal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/choice.h"
#include "model/decode_batch_parts.h"
#include "runtime/arena.h"
#include "runtime/rehearsal.h"

typedef struct rehearsed {
    clf_decode_batch *batch;
    const clf_decode_plan *plan;
    clf_decode_input *inputs; /* [open]: inputs of the current pass */
    size_t open;
} rehearsed;

static clf_status pass(const rehearsed *r, bool is_all)
{
    const clf_decode_plan *plan = r->plan;
    clf_view logits;
    CLF_TRY(is_all ? clfi_decode_run_all(r->batch, r->inputs, r->open, &logits) : clfi_decode_run(r->batch, r->inputs, r->open, &logits));
    return plan->score ? plan->score(plan->user, &logits) : CLF_OK;
}

static clf_status first_pass(rehearsed *r)
{
    const clf_decode_plan *plan = r->plan;
    for (; r->open < plan->count; r->open++)
        CLF_TRY(clfi_decode_open(r->batch, &r->inputs[r->open].sequence));
    for (size_t i = 0; plan->sources && i < plan->count; i++)
        r->inputs[i] = (clf_decode_input){r->inputs[i].sequence, plan->sources[i].tokens, plan->sources[i].count};
    if (plan->sources)
        CLF_TRY(clfi_decode_sources(r->batch, r->inputs, plan->count));
    for (size_t i = 0; i < plan->count; i++)
        r->inputs[i] = (clf_decode_input){r->inputs[i].sequence, plan->inputs[i].tokens, plan->inputs[i].count};
    return pass(r, plan->is_all);
}

static clf_status following_pass(rehearsed *r)
{
    const clf_decode_plan *plan = r->plan;
    for (size_t i = 0; i < plan->count; i++)
        r->inputs[i].count = 1;
    for (; r->open < plan->count * (size_t)plan->following; r->open++) {
        const clf_decode_input *from = &r->inputs[r->open % plan->count];
        CLF_TRY(clfi_decode_fork(r->batch, from->sequence, &r->inputs[r->open].sequence));
        r->inputs[r->open] = (clf_decode_input){r->inputs[r->open].sequence, from->tokens, 1};
    }
    return pass(r, false);
}

static clf_status close_sequences(rehearsed *r)
{
    clf_status st = CLF_OK;
    while (r->open > 0) {
        const clf_status dropped = clfi_decode_drop(r->batch, r->inputs[--r->open].sequence);
        st = st == CLF_OK ? dropped : st;
    }
    return st;
}

/* clfi_rehearse calls it again if an engine was left out meanwhile, so it first closes the sequences of the call before. */
static clf_status both_passes(void *user)
{
    rehearsed *r = user;
    CLF_TRY(close_sequences(r));
    CLF_TRY(first_pass(r));
    return r->plan->following ? following_pass(r) : CLF_OK;
}

clf_status clfi_decode_rehearse(clf_decode_batch *batch, const clf_decode_plan *plan, bool *is_done)
{
    rehearsed r = {.batch = batch, .plan = plan};
    if (*is_done)
        return CLF_OK;
    CLF_TRY(clfi_alloc(plan->count * (size_t)(plan->following > 1 ? plan->following : 1), sizeof *r.inputs, "decoding", &r.inputs));
    clf_status st = clfi_rehearse(clfi_decode_context(batch), both_passes, &r);
    const clf_status closed = close_sequences(&r);
    st = st == CLF_OK ? closed : st;
    free(r.inputs);
    *is_done = st == CLF_OK;
    return st;
}

/* ---- Passes of all sizes ---- */

/* A pass to try. The first sequence gets `tokens` tokens, each of the others one. */
typedef struct trial {
    size_t sequences;
    size_t tokens;  /* 0: only sources are encoded, one for each sequence */
    size_t before;  /* tokens that the sequences have already */
    size_t source;  /* tokens of the source that they share, or of all sources; ignored if the decoder attends to none */
    bool is_single; /* without launch graphs, as if they had been switched off */
    clf_wanted_logits wanted;
} trial;

typedef struct trials {
    clf_decode_batch *batch;
    clf_decode_sizes sizes;
    size_t positions, longest_source;
    trial *list;
    size_t count, capacity;
    clf_choice choice;
    clf_decode_input *inputs;  /* [sizes.sequences] */
    clf_wanted_logits *wanted; /* [sizes.sequences] */
    int32_t *ids;              /* all 0 */
    size_t open;               /* sequences of the trial at hand: those of inputs[0 .. open) */
} trials;

/* Lists a trial unless it exceeds the sizes or the model's positions. */
static clf_status add_trial(trials *t, const trial *one)
{
    const size_t length = one->before + one->tokens, rows = one->before + one->tokens + one->sequences;
    if (one->sequences > t->sizes.sequences || length > t->positions || (t->sizes.rows && rows > t->sizes.rows) ||
        one->tokens + one->sequences > t->sizes.tokens + 1)
        return CLF_OK;
    CLF_TRY(clfi_grow(&t->list, &t->capacity, t->count + 1, sizeof *t->list, "passes"));
    t->list[t->count++] = *one;
    return CLF_OK;
}

/* Steps, and a prompt beside steps, of every number of sequences. */
static clf_status list_steps(trials *t, size_t before)
{
    const clf_wanted_logits greedy = {1, 0}, nucleus = {1, 1};
    for (size_t n = 1; n <= t->sizes.sequences; n++) {
        const trial step = {.sequences = n, .tokens = 1, .before = before, .source = before + 1, .wanted = n % 2 ? greedy : nucleus};
        trial single = step, prompt = step;
        single.is_single = true;
        prompt.tokens = 2;
        CLF_TRY(add_trial(t, &step));
        CLF_TRY(add_trial(t, &single));
        CLF_TRY(add_trial(t, &prompt));
    }
    return CLF_OK;
}

/* Choices of few and of many of the largest logits, in one row and in most rows. */
static clf_status list_choices(trials *t)
{
    for (size_t best = 1; best <= CLF_TOP_K_MAX; best *= 2)
        for (size_t scale = 0; scale < 2; scale++) {
            trial one = {.sequences = 1, .tokens = 1, .source = 1, .wanted = {best, (float)scale}};
            CLF_TRY(add_trial(t, &one));
            one.sequences = t->sizes.sequences;
            CLF_TRY(add_trial(t, &one));
        }
    return CLF_OK;
}

static clf_status list_sources(trials *t)
{
    const size_t most = clfi_batch_tokens(t->batch->context), longest = t->longest_source;
    for (size_t i = 0; i < clfi_trial_count(most); i++) {
        const size_t tokens = clfi_trial_rows(i, most);
        CLF_TRY(add_trial(t, &(trial){.sequences = (tokens + longest - 1) / longest, .source = tokens}));
        CLF_TRY(add_trial(t, &(trial){.sequences = tokens, .source = tokens}));
    }
    return CLF_OK;
}

/* Long sequences have more keys than one part of the attention's kernels takes, at all sizes of these. */
static clf_status list_trials(trials *t)
{
    enum { LONG = 320, FEW_TOKENS = 16 };
    const size_t most = t->sizes.tokens;
    for (size_t before = 0; before <= LONG; before += LONG) {
        CLF_TRY(list_steps(t, before));
        for (size_t i = 0; i < clfi_trial_count(before ? FEW_TOKENS : most); i++)
            CLF_TRY(add_trial(t, &(trial){.sequences = 1, .tokens = clfi_trial_rows(i, most), .before = before, .source = before + 1}));
    }
    CLF_TRY(list_choices(t));
    return t->longest_source ? list_sources(t) : CLF_OK;
}

static clf_status close_trial(trials *t)
{
    clf_status st = CLF_OK;
    while (t->open > 0) {
        const clf_status dropped = clfi_decode_drop(t->batch, t->inputs[--t->open].sequence);
        st = st == CLF_OK ? dropped : st;
    }
    return st;
}

/* Opens the trial's first sequence, with its source and the tokens that it has already. */
static clf_status open_first(trials *t, const trial *one)
{
    clf_decode_input *first = &t->inputs[0];
    const clf_arena_mark mark = clfi_arena_top(t->batch->context);
    clf_view logits;
    CLF_TRY(clfi_decode_open(t->batch, &first->sequence));
    t->open = 1;
    if (t->longest_source) {
        const size_t source = one->source < t->longest_source ? one->source : t->longest_source;
        CLF_TRY(clfi_decode_sources(t->batch, &(clf_decode_input){first->sequence, t->ids, (int32_t)source}, 1));
    }
    for (size_t given = 0, piece; given < one->before; given += piece) {
        piece = one->before - given < t->sizes.tokens ? one->before - given : t->sizes.tokens;
        *first = (clf_decode_input){first->sequence, t->ids, (int32_t)piece};
        CLF_TRY(clfi_decode_run(t->batch, first, 1, &logits));
        clfi_arena_release(t->batch->context, mark);
    }
    return CLF_OK;
}

static clf_status run_pass(trials *t, const trial *one)
{
    clf_decode_batch *batch = t->batch;
    clf_launch_graph *const graphs[2] = {batch->step, batch->batch_step};
    clf_view logits;
    CLF_TRY(open_first(t, one));
    for (; t->open < one->sequences; t->open++)
        CLF_TRY(clfi_decode_fork(batch, t->inputs[0].sequence, &t->inputs[t->open].sequence));
    for (size_t i = 0; i < one->sequences; i++) {
        t->inputs[i] = (clf_decode_input){t->inputs[i].sequence, t->ids, i ? 1 : (int32_t)one->tokens};
        t->wanted[i] = one->wanted;
    }
    if (one->is_single)
        batch->step = batch->batch_step = NULL;
    const clf_status st = clfi_decode_run(batch, t->inputs, one->sequences, &logits);
    batch->step = graphs[0];
    batch->batch_step = graphs[1];
    CLF_TRY(st);
    return clfi_choice_launch(&t->choice, &logits, t->wanted, one->sequences);
}

static clf_status encode_sources(trials *t, const trial *one)
{
    size_t left = one->source;
    for (; t->open < one->sequences; t->open++) {
        const size_t length = one->sequences == one->source ? 1 : left < t->longest_source ? left : t->longest_source;
        CLF_TRY(clfi_decode_open(t->batch, &t->inputs[t->open].sequence));
        t->inputs[t->open] = (clf_decode_input){t->inputs[t->open].sequence, t->ids, (int32_t)length};
        left -= length;
    }
    return clfi_decode_sources(t->batch, t->inputs, one->sequences);
}

/* Also closes the sequences of a trial that has failed. */
static clf_status run_trial(void *user, size_t item)
{
    trials *t = user;
    const trial *one = &t->list[item];
    const clf_status st = one->tokens ? run_pass(t, one) : encode_sources(t, one), closed = close_trial(t);
    return st == CLF_OK ? closed : st;
}

static clf_status make_trials(trials *t)
{
    const size_t most = t->sizes.tokens > t->longest_source ? t->sizes.tokens : t->longest_source;
    CLF_TRY(clfi_alloc(t->sizes.sequences, sizeof *t->inputs, "passes", &t->inputs));
    CLF_TRY(clfi_alloc(t->sizes.sequences, sizeof *t->wanted, "passes", &t->wanted));
    CLF_TRY(clfi_alloc(most, sizeof *t->ids, "token ids", &t->ids));
    return list_trials(t);
}

clf_status clfi_decode_warm(clf_decode_batch *batch, const clf_decode_sizes *sizes)
{
    const clf_network_config *config = &batch->network->config;
    const size_t longest = (size_t)config->source.max_positions, most = clfi_batch_tokens(batch->context);
    trials t = {.batch = batch, .sizes = *sizes, .positions = (size_t)config->target.max_positions, .choice = clfi_choice(batch->context)};
    if (batch->network->decoder.config.has_source)
        t.longest_source = longest < most ? longest : most;
    clf_status st = make_trials(&t);
    if (st == CLF_OK)
        st = clfi_rehearse_all(batch->context, run_trial, &t, t.count);
    clfi_choice_clear(&t.choice);
    free(t.list);
    free(t.inputs);
    free(t.wanted);
    free(t.ids);
    return st;
}
