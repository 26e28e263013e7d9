/* SPDX-License-Identifier: MIT */
/* Beam search: the loop over steps. The device holds tokens, scores and the table of cache rows; the host learns which sources are done. */
#include "model/beam_search.h"

#include <math.h>

#include "base/alloc.h"
#include "model/beam_workspace.h"
#include "op/log_softmax.h"
#include "op/top_k.h"

clf_status clfi_beam_search_create(const clf_network *network, int32_t begin, int32_t end, int32_t width, clf_beam_search **out)
{
    clf_beam_search *search;
    if (width < 1 || width > CLFI_BEAM_MOST)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "beam search: width %d, expected 1 to %d", width, CLFI_BEAM_MOST);
    if (!network->generator || !network->source.table.count || !network->target.table.count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "beam search: expected a network with encoder, decoder, both embeddings and a generator");
    CLF_TRY(clfi_alloc(1, sizeof *search, "beam search", &search));
    search->network = network;
    search->begin = begin;
    search->end = end;
    search->width = width;
    search->steps = (int32_t)network->config.target.max_positions - 1;
    search->packer = clfi_packer(network->context);
    *out = search;
    return CLF_OK;
}

void clfi_beam_search_destroy(clf_beam_search *search)
{
    if (!search)
        return;
    clfi_context_drain(search->network->context);
    clfi_beam_workspace_clear(search);
    clfi_decoder_memory_release(&search->memory);
    clfi_kv_cache_clear(&search->cache);
    free(search);
}

clf_beam_stats clfi_beam_search_stats(const clf_beam_search *search)
{
    return search->stats;
}

static clf_view vector_of(clf_buffer *buffer, clf_dtype dtype, int64_t count)
{
    return clfi_view_dense(buffer, dtype, 0, 1, &count);
}

/* The decoder's features of the newest tokens, and their log-probabilities plus the hypotheses' scores: candidates [active, hypotheses *
 * V]. */
static clf_status score_extensions(clf_beam_search *search, int32_t step, int64_t hypotheses, clf_view *candidates)
{
    const clf_network *network = search->network;
    clf_context *context = network->context;
    const clf_beam_state *state = &search->state[search->current];
    const int64_t rows = search->shape.active * hypotheses, classes = search->shape.classes;
    clf_view x, logits;
    clf_view position = clfi_view_dense(search->positions, CLF_I32, step, 1, &rows);
    position.stride[0] = 0; /* all hypotheses are at the same step */
    const clf_view tokens = vector_of(state->tokens, CLF_I32, rows), scores = vector_of(state->scores, CLF_F32, rows);
    const clf_view first = vector_of(state->first, CLF_I32, rows), count = vector_of(state->count, CLF_I32, rows);
    const clf_view table = clfi_view_dense(state->rows, CLF_I32, 0, 2, (int64_t[]){rows, search->shape.row_stride});
    const clf_decoder_step decoder_step = {.cache = &search->cache, .memory = &search->memory, .rows = &table, .keys = step + 1,
                                           .first = &first, .count = &count, .most = search->longest_source, .positions = &position};
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){rows, network->config.encoder.width}, &x));
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){rows, classes}, &logits));
    CLF_TRY(clfi_network_embed(context, &network->target, &tokens, &position, NULL, &x));
    CLF_TRY(clfi_decoder_step(context, &network->decoder, &decoder_step, &x));
    CLF_TRY(clfi_network_generate(context, network, &x, &logits));
    CLF_TRY(clfi_log_softmax(context, &logits, &scores, &logits));
    *candidates = clfi_view_dense(logits.buffer, CLF_F32, logits.offset, 2, (int64_t[]){search->shape.active, hypotheses * classes});
    return CLF_OK;
}

/* One step: the best extensions of every active source, recorded on the device. */
static clf_status take_step(clf_beam_search *search, int32_t step, int64_t hypotheses)
{
    clf_context *context = search->network->context;
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view candidates, values, indices;
    clf_status st;
    const int64_t dim[2] = {search->shape.active, search->width};
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, dim, &values));
    CLF_GOTO(clfi_view_temporary(context, CLF_I32, 2, dim, &indices));
    CLF_GOTO(score_extensions(search, step, hypotheses, &candidates));
    CLF_GOTO(clfi_top_k(context, &candidates, search->width, &values, &indices));
    CLF_GOTO(clfi_beam_select(context, &search->shape, step, &values, &indices, &search->state[search->current], &search->record));
    search->stats.steps++;
    search->stats.step_rows += (uint64_t)(search->shape.active * hypotheses);
done:
    clfi_arena_release(context, mark);
    return st;
}

/* Which active sources stay: their places go to the device when any leaves. */
static clf_status find_open(clf_beam_search *search, int32_t *open, bool *any_left)
{
    const size_t active = (size_t)search->shape.active;
    int32_t *done = search->host_ints, *keep = done + active, count = 0;
    CLF_TRY(clfi_buffer_read(search->record.done, 0, done, active * sizeof *done));
    for (size_t a = 0; a < active; a++)
        if (!done[a])
            keep[count++] = (int32_t)a;
    *open = count;
    *any_left = (size_t)count < active;
    return *any_left && count ? clfi_buffer_write(search->keep, 0, keep, (size_t)count * sizeof *keep) : CLF_OK;
}

/* After the step that made tokens 0 .. step: the next step's state, with a cache row for each hypothesis. */
static clf_status advance(clf_beam_search *search, int32_t step, int64_t hypotheses, int32_t open, bool any_left)
{
    search->shape.active = open;
    CLF_TRY(clfi_kv_cache_add(&search->cache, (int64_t)open * search->width));
    const int64_t first_row = search->cache.rows - search->cache.added;
    CLF_TRY(clfi_beam_advance(search->network->context, &search->shape, (int32_t)hypotheses, step + 1, (int32_t)first_row,
                              any_left ? search->keep : NULL, &search->state[search->current], &search->record,
                              &search->state[!search->current]));
    search->current = !search->current;
    return CLF_OK;
}

clf_status clfi_beam_search_run(clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t sources,
                                clf_hypothesis_sink sink, void *user)
{
    if (sources == 0)
        return CLF_OK;
    CLF_TRY(clfi_beam_workspace_begin(search, ids, offsets, sources));
    /* All hypotheses of a source are the same before the first step, so that it runs one of each, where the vocabulary has enough tokens to
     * choose from. */
    int64_t hypotheses = search->shape.classes >= search->width ? 1 : search->width;
    CLF_TRY(clfi_beam_workspace_first_step(search, offsets, hypotheses));
    int32_t step = 0;
    for (;; step++) {
        int32_t open;
        bool any_left;
        CLF_TRY(take_step(search, step, hypotheses));
        CLF_TRY(find_open(search, &open, &any_left));
        if (open == 0 || step + 1 == search->steps)
            break;
        CLF_TRY(advance(search, step, hypotheses, open, any_left));
        hypotheses = search->width;
    }
    search->stats.sources += sources;
    search->stats.source_tokens += (uint64_t)offsets[sources];
    return clfi_beam_workspace_results(search, step, sources, sink, user);
}
