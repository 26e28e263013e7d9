/* SPDX-License-Identifier: MIT */
/* Results of a beam search: hypotheses followed back from their last token to their first. */
#include <math.h>

#include "base/alloc.h"
#include "model/beam_workspace.h"

/* The record of a finished search on the host. */
typedef struct record {
    int32_t *tokens, *parents; /* [steps][sources][width] */
    float *scores;             /* [sources][width] */
    int32_t *at, *count;
    int32_t *tail;             /* one hypothesis */
    float *open_scores;        /* [active][width] of the last step */
    int32_t *open_words;       /* [active] */
} record;

static void record_free(record *r)
{
    free(r->tokens);
    free(r->parents);
    free(r->scores);
    free(r->at);
    free(r->count);
    free(r->tail);
    free(r->open_scores);
    free(r->open_words);
}

static clf_status fetch(clf_buffer *buffer, size_t count, void *out_pointer)
{
    int32_t **out = out_pointer;
    CLF_TRY(clfi_alloc(count, sizeof **out, "beam search", out));
    return clfi_buffer_read(buffer, 0, *out, count * sizeof **out);
}

static clf_status read_record(const clf_beam_search *search, int32_t last_step, size_t sources, record *r)
{
    const size_t hypotheses = sources * (size_t)search->width, active = (size_t)search->shape.active;
    const size_t steps = (size_t)last_step + 1;
    const clf_beam_state *state = &search->state[search->current];
    CLF_TRY(fetch(search->record.history_token, steps * hypotheses, &r->tokens));
    CLF_TRY(fetch(search->record.history_parent, steps * hypotheses, &r->parents));
    CLF_TRY(fetch(search->record.finished_score, hypotheses, &r->scores));
    CLF_TRY(fetch(search->record.finished_at, hypotheses, &r->at));
    CLF_TRY(fetch(search->record.finished_count, sources, &r->count));
    CLF_TRY(fetch(state->scores, active * (size_t)search->width, &r->open_scores));
    CLF_TRY(fetch(state->words, active, &r->open_words));
    return clfi_alloc(steps, sizeof *r->tail, "beam search", &r->tail);
}

static clf_status hand_on(const clf_beam_search *search, const record *r, size_t sources, size_t source, size_t rank, int32_t at,
                          float score, bool has_ended, clf_hypothesis_sink sink, void *user)
{
    const size_t width = (size_t)search->width;
    const int32_t last = at / search->width;
    size_t place = (size_t)(at % search->width);
    for (int32_t step = last; step >= 0; step--) {
        const size_t i = ((size_t)step * sources + source) * width + place;
        r->tail[step] = r->tokens[i];
        place = (size_t)r->parents[i];
    }
    const clf_hypothesis hypothesis = {r->tail, (size_t)last + 1, score, has_ended};
    return sink(user, source, rank, &hypothesis);
}

/* The best open hypothesis of an active source that has no finished one. */
static clf_status hand_on_open(const clf_beam_search *search, const record *r, int32_t last_step, size_t sources, size_t active,
                               clf_hypothesis_sink sink, void *user)
{
    const size_t width = (size_t)search->width;
    const float *scores = r->open_scores + active * width;
    size_t best = 0;
    if (r->count[r->open_words[active]] > 0)
        return CLF_OK;
    for (size_t w = 1; w < width; w++)
        best = scores[w] > scores[best] ? w : best;
    if (!(scores[best] > -INFINITY))
        return CLF_OK; /* logits that are no numbers */
    return hand_on(search, r, sources, (size_t)r->open_words[active], 0, last_step * search->width + (int32_t)best, scores[best], false,
                   sink, user);
}

clf_status clfi_beam_workspace_results(clf_beam_search *search, int32_t last_step, size_t sources, clf_hypothesis_sink sink, void *user)
{
    record r = {.tokens = NULL};
    const size_t width = (size_t)search->width;
    clf_status st;
    CLF_GOTO(read_record(search, last_step, sources, &r));
    for (size_t s = 0; s < sources; s++)
        for (int32_t k = 0; k < r.count[s]; k++)
            CLF_GOTO(
                hand_on(search, &r, sources, s, (size_t)k, r.at[s * width + (size_t)k], r.scores[s * width + (size_t)k], true, sink, user));
    for (size_t a = 0; a < (size_t)search->shape.active; a++)
        CLF_GOTO(hand_on_open(search, &r, last_step, sources, a, sink, user));
done:
    record_free(&r);
    return st;
}
