/* SPDX-License-Identifier: MIT */
/* Runs a pass, checks its rows, and repeats it on the portable engines if a row is corrupt. */
#include "model/row_pass.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"
#include "kernel/row_check.h"
#include "model/finite.h"
#include "op/engines.h"
#include "runtime/launch_graph.h"
#include "runtime/rehearsal.h"

enum {
    MANY_PASSES = 16,  /* of a session, before it has a launch graph */
    MOST_PROGRAMS = 16 /* of this graph: products of different numbers of rows have different kernels */
};

/* Arguments of enqueue: a batch, and where its rows and their flags go on the device. */
typedef struct packed_pass {
    clf_session *session;
    const clf_row_pass *pass;
    const clf_token_batch *batch;
    clf_view rows, flagged;
    bool is_single; /* without a launch graph, as if it had been switched off */
} packed_pass;

static clf_status launch(const packed_pass *p)
{
    CLF_TRY(p->pass->run(p->session, p->pass->user, p->batch, &p->rows));
    return clfi_row_check_launch(p->session->context, &p->rows, &p->flagged);
}

/* Launches a pass, as a launch graph if the device runs them. Its tokens differ from pass to pass, so none is launched again. */
static clf_status enqueue(void *user)
{
    const packed_pass *p = user;
    clf_launch_graph *graph = p->is_single ? NULL : p->session->row_graph;
    return clfi_graph_end(graph, clfi_graph_begin(graph, NULL, 0) ? launch(p) : CLF_OK);
}

/* Makes the session's graph of passes when it has run many. Launch graphs take seconds to compile, and save up to a millisecond of a
 * pass. A GPU has none, because its products cannot be part of a graph. */
static clf_status prepare_graph(clf_session *session)
{
    const clf_context *context = session->context;
    if (session->row_graph || !context->device.caps.is_cpu || (session->row_passes < MANY_PASSES && context->graphs != CLFI_GRAPHS_ALWAYS))
        return CLF_OK;
    CLF_TRY(clfi_graph_create(session->context, MOST_PROGRAMS, &session->row_graph));
    session->is_rehearsed = session->is_rehearsed && !session->row_graph;
    return CLF_OK;
}

/* Compiles the kernels that the pass lacks, several at once. A later pass with fewer or more rows may need others, so every pass is
 * rehearsed until a rehearsal compiles nothing. */
static clf_status rehearse(clf_session *session, packed_pass *p)
{
    const uint64_t built = session->context->stats.programs_built;
    if (session->is_rehearsed)
        return CLF_OK;
    CLF_TRY(clfi_rehearse(session->context, enqueue, p));
    session->is_rehearsed = session->context->stats.programs_built == built;
    return CLF_OK;
}

static clf_status make_results(packed_pass *p)
{
    const int64_t sequences = p->batch->sequences;
    CLF_TRY(clfi_view_temporary(p->session->context, CLF_F32, 2, (int64_t[]){sequences, (int64_t)p->pass->width}, &p->rows));
    return clfi_view_temporary(p->session->context, CLF_I32, 1, &sequences, &p->flagged);
}

static clf_status run_packed(clf_session *session, const clf_row_pass *pass, const clf_token_batch *batch, float *out, int32_t *flags)
{
    const int64_t sequences = batch->sequences;
    packed_pass p = {.session = session, .pass = pass, .batch = batch};
    CLF_TRY(make_results(&p));
    CLF_TRY(prepare_graph(session));
    CLF_TRY(rehearse(session, &p));
    CLF_TRY(enqueue(&p));
    session->row_passes++;
    CLF_TRY(clfi_buffer_read(p.rows.buffer, (size_t)p.rows.offset * sizeof *out, out, (size_t)sequences * pass->width * sizeof *out));
    return clfi_buffer_read(p.flagged.buffer, (size_t)p.flagged.offset * sizeof *flags, flags, (size_t)sequences * sizeof *flags);
}

static clf_status run_once(clf_session *session, const clf_row_pass *pass, const clf_sequences *s, float *out, int32_t *flags)
{
    clf_token_batch batch;
    CLF_TRY(clfi_session_pack(session, s, &batch));
    const clf_arena_mark mark = clfi_arena_top(session->context);
    const clf_status st = run_packed(session, pass, &batch, out, flags);
    clfi_arena_release(session->context, mark);
    return st;
}

/* Marks the corrupt rows; returns whether there are any. */
static bool mark_corrupt(const clf_row_pass *pass, const clf_sequences *s, const int32_t *flags, bool *is_corrupt)
{
    bool any = false;
    for (size_t i = 0; i < s->count; i++) {
        const bool is_zero = !(flags[i] & CLFI_ROW_NOT_ZERO) && s->offsets[i + 1] > s->offsets[i];
        is_corrupt[i] = (flags[i] & CLFI_ROW_NOT_FINITE) || (is_zero && !pass->may_be_zero);
        any |= is_corrupt[i];
    }
    return any;
}

/* The last engine of every table, "gemm=tiled,softmax=generic,...". The caller frees *out. */
static clf_status portable_engines(char **out)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (int op = 0; st == CLF_OK && op < CLF_OP_COUNT; op++) {
        const clf_engine_table *table = &clfi_engine_tables[op];
        st = clfi_str_appendf(&text, "%s%s=%s", op ? "," : "", table->op, table->engines[table->count - 1].name);
    }
    if (st != CLF_OK) {
        clfi_str_free(&text);
        return st;
    }
    *out = text.data;
    return CLF_OK;
}

/* A session on the last engine of every table, with weights of its own, opened at the first call and kept by `session`. */
static clf_status session_portable(clf_session *session, clf_session **out)
{
    if (!session->portable) {
        clf_context *context;
        clf_model *model = NULL;
        char *engines;
        CLF_TRY(clf_context_create_shared(session->context, &context));
        clf_status st = portable_engines(&engines);
        if (st == CLF_OK) {
            free(context->engines);
            context->engines = engines;
            st = clf_model_open(context, session->model->directory, &session->model->params, &model);
        }
        clf_context_destroy(context); /* the model holds a reference */
        if (st == CLF_OK)
            st = clf_session_create(model, NULL, &session->portable);
        clf_model_destroy(model); /* the session holds a reference */
        CLF_TRY(st);
    }
    *out = session->portable;
    return CLF_OK;
}

static clf_status run_again(clf_session *session, const clf_row_pass *pass, const clf_sequences *s, float *out, int32_t *flags)
{
    clf_session *portable;
    clfi_log(session->context, CLF_LOG_ERROR, "%s: a row is not finite or all zero; its batch is computed again by the portable engines",
             pass->what);
    CLF_TRY(session_portable(session, &portable));
    return run_once(portable, pass, s, out, flags);
}

static clf_status run_checked(clf_session *session, const clf_row_pass *pass, const clf_sequences *s, float *out, int32_t *flags,
                              bool *is_corrupt)
{
    clf_status st;
    do
        st = run_once(session, pass, s, out, flags);
    while (clfi_session_reload(session, &st));
    if (st == CLF_OK && mark_corrupt(pass, s, flags, is_corrupt)) {
        st = run_again(session, pass, s, out, flags);
        if (st == CLF_OK)
            mark_corrupt(pass, s, flags, is_corrupt);
    }
    return st;
}

clf_status clfi_row_pass_run(clf_session *session, const clf_row_pass *pass, const clf_sequences *s, float *out, bool *is_corrupt)
{
    int32_t *flags;
    CLF_TRY(clfi_alloc(s->count, sizeof *flags, "flags of rows", &flags));
    clf_status st;
    do
        st = run_checked(session, pass, s, out, flags, is_corrupt);
    while (clfi_session_recover(session, &st));
    free(flags);
    return st;
}

/* ---- Before the first pass ---- */

typedef struct warm_rows {
    clf_session *session;
    const clf_row_pass *pass;
    size_t tokens, longest; /* most tokens of a pass and of a sequence */
    int32_t *ids, *offsets; /* [tokens], all 0; [tokens + 1] */
} warm_rows;

/* Kinds of trials. Tokens lie in as few sequences as possible, or one in each sequence: heads compute a row for each sequence. Passes are
 * launch graphs, or the single launches that they become when a graph is switched off. */
enum { IS_SPREAD = 1, IS_SINGLE = 2, TRIAL_KINDS = 4 };

/* Enqueues a pass over a trial number of tokens. */
static clf_status run_trial(void *user, size_t item)
{
    const warm_rows *w = user;
    const size_t kind = item % TRIAL_KINDS, tokens = clfi_trial_rows(item / TRIAL_KINDS, w->tokens);
    const size_t length = kind & IS_SPREAD ? 1 : w->longest;
    const size_t sequences = (tokens + length - 1) / length;
    clf_token_batch batch;
    packed_pass p = {.session = w->session, .pass = w->pass, .batch = &batch, .is_single = kind & IS_SINGLE};
    for (size_t i = 0; i <= sequences; i++)
        w->offsets[i] = (int32_t)(i < sequences ? i * length : tokens);
    CLF_TRY(clfi_session_pack(w->session, &(clf_sequences){w->ids, NULL, w->offsets, sequences}, &batch));
    CLF_TRY(make_results(&p));
    return enqueue(&p);
}

clf_status clfi_row_pass_warm(clf_session *session, const clf_row_pass *pass, size_t tokens)
{
    const size_t longest = (size_t)session->model->network->config.source.max_positions;
    session->row_passes = MANY_PASSES;
    CLF_TRY(prepare_graph(session));
    warm_rows w = {.session = session, .pass = pass, .tokens = tokens, .longest = longest < tokens ? longest : tokens};
    clf_status st;
    CLF_GOTO(clfi_alloc(tokens, sizeof *w.ids, "token ids", &w.ids));
    CLF_GOTO(clfi_alloc(tokens + 1, sizeof *w.offsets, "token ids", &w.offsets));
    do
        st = clfi_rehearse_all(session->context, run_trial, &w, TRIAL_KINDS * clfi_trial_count(tokens));
    while (clfi_session_reload(session, &st) || clfi_session_recover(session, &st));
    session->is_rehearsed = st == CLF_OK;
done:
    free(w.ids);
    free(w.offsets);
    return st;
}

clf_status clfi_row_fail(const clf_row_pass *pass, const float *row)
{
    const size_t c = clfi_find_not_finite(row, pass->width);
    if (c == pass->width)
        CLF_FAIL(CLF_INTERNAL, "the result is all zero");
    CLF_FAIL(CLF_INTERNAL, "the result is not finite: element %zu is %g", c, (double)row[c]);
}
