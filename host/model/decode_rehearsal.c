/* SPDX-License-Identifier: MIT */
/* Rehearses the first pass and a later pass of decoding. */
#include "model/decode_rehearsal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
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
