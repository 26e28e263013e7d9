/* SPDX-License-Identifier: MIT */
/* A batch of a beam search on its way to the device: buffers, encoding, the first state. */
#include "model/beam_workspace.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

/* Tokens that the encoder takes at once: on CPUs the activations of some thousand leave the caches. */
enum { CPU_PART_TOKENS = 1024, GPU_PART_TOKENS = 16384 };

static void release(clf_buffer **buffer)
{
    clfi_buffer_release(*buffer);
    *buffer = NULL;
}

static void clear_sized(clf_beam_search *search)
{
    for (int i = 0; i < 2; i++) {
        clf_beam_state *state = &search->state[i];
        release(&state->words);
        release(&state->tokens);
        release(&state->scores);
        release(&state->rows);
        release(&state->first);
        release(&state->count);
    }
    clf_beam_record *record = &search->record;
    release(&record->history_token);
    release(&record->history_parent);
    release(&record->finished_score);
    release(&record->finished_at);
    release(&record->finished_count);
    release(&record->done);
    release(&record->parents);
    release(&record->source_first);
    release(&record->source_count);
    release(&search->keep);
    search->capacity = 0;
}

void clfi_beam_workspace_clear(clf_beam_search *search)
{
    clear_sized(search);
    release(&search->positions);
    clfi_packer_clear(&search->packer);
    free(search->host_ints);
    search->host_ints = NULL;
}

/* count values of four bytes, times `times`. */
static clf_status create(clf_context *context, size_t count, size_t times, clf_buffer **out)
{
    size_t values, bytes;
    if (!clfi_mul_size(count, times, &values) || !clfi_mul_size(values, sizeof(cl_int), &bytes))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "E_OVERFLOW: beam search over %zu sources", count);
    return clfi_buffer_create(context, bytes, out);
}

static clf_status reserve_sources(clf_beam_search *search, size_t sources)
{
    clf_context *context = search->network->context;
    const size_t width = (size_t)search->width, steps = (size_t)search->steps, hypotheses = sources * width;
    if (sources <= search->capacity)
        return CLF_OK;
    clear_sized(search);
    for (int i = 0; i < 2; i++) {
        clf_beam_state *state = &search->state[i];
        CLF_TRY(create(context, sources, 1, &state->words));
        CLF_TRY(create(context, hypotheses, 1, &state->tokens));
        CLF_TRY(create(context, hypotheses, 1, &state->scores));
        CLF_TRY(create(context, hypotheses, steps, &state->rows));
        CLF_TRY(create(context, hypotheses, 1, &state->first));
        CLF_TRY(create(context, hypotheses, 1, &state->count));
    }
    clf_beam_record *record = &search->record;
    CLF_TRY(create(context, hypotheses, steps, &record->history_token));
    CLF_TRY(create(context, hypotheses, steps, &record->history_parent));
    CLF_TRY(create(context, hypotheses, 1, &record->finished_score));
    CLF_TRY(create(context, hypotheses, 1, &record->finished_at));
    CLF_TRY(create(context, sources, 1, &record->finished_count));
    CLF_TRY(create(context, sources, 1, &record->done));
    CLF_TRY(create(context, hypotheses, 1, &record->parents));
    CLF_TRY(create(context, sources, 1, &record->source_first));
    CLF_TRY(create(context, sources, 1, &record->source_count));
    CLF_TRY(create(context, sources, 1, &search->keep));
    search->capacity = sources;
    return CLF_OK;
}

static clf_status reserve_host(clf_beam_search *search, size_t count)
{
    if (count <= search->host_count)
        return CLF_OK;
    free(search->host_ints);
    search->host_ints = NULL;
    search->host_count = 0;
    CLF_TRY(clfi_alloc(count, sizeof *search->host_ints, "beam search", &search->host_ints));
    search->host_count = count;
    return CLF_OK;
}

static clf_status make_positions(clf_beam_search *search)
{
    const size_t count = (size_t)search->steps;
    if (search->positions)
        return CLF_OK;
    CLF_TRY(reserve_host(search, count));
    for (size_t i = 0; i < count; i++)
        search->host_ints[i] = (int32_t)i;
    CLF_TRY(create(search->network->context, count, 1, &search->positions));
    return clfi_buffer_write(search->positions, 0, search->host_ints, count * sizeof(int32_t));
}

static clf_status check_sources(clf_beam_search *search, const int32_t *offsets, size_t sources)
{
    const clf_embedding_config *config = &search->network->config.source;
    search->longest_source = 0;
    if (sources > (size_t)(INT32_MAX / search->width) || offsets[0] != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "beam search: %zu sources, the first at %d", sources, offsets[0]);
    for (size_t s = 0; s < sources; s++) {
        const int32_t length = offsets[s + 1] - offsets[s];
        if (length < 0 || length > config->max_positions)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "source %zu: %d tokens, the model has %lld positions", s, length,
                     (long long)config->max_positions);
        search->longest_source = length > search->longest_source ? length : search->longest_source;
    }
    return CLF_OK;
}

/* Encodes sources first .. first + count and projects them into the memory's rows from offsets[first] on. */
static clf_status encode_part(clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t first, size_t count)
{
    const clf_network *network = search->network;
    clf_context *context = network->context;
    const int32_t begin = offsets[first];
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_token_batch batch;
    clf_view x;
    clf_status st;
    CLF_GOTO(clfi_pack_sequences(&search->packer, "source", &network->config.source, ids, NULL, offsets + first, count, &batch));
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){batch.tokens, network->config.encoder.width}, &x));
    CLF_GOTO(clfi_network_embed(context, &network->source, &batch.ids, &batch.positions, NULL, &x));
    CLF_GOTO(clfi_encoder_forward(context, &network->encoder, batch.attention, &batch.positions, &x));
    CLF_GOTO(clfi_decoder_memory_project(context, &network->decoder, &x, begin, &search->memory));
done:
    clfi_arena_release(context, mark);
    return st;
}

static clf_status encode(clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t sources)
{
    const int32_t limit = search->network->context->device.caps.is_cpu ? CPU_PART_TOKENS : GPU_PART_TOKENS;
    CLF_TRY(clfi_decoder_memory_reserve(search->network->context, &search->network->decoder, offsets[sources], &search->memory));
    for (size_t first = 0, count; first < sources; first += count) {
        for (count = 1; first + count < sources && offsets[first + count + 1] - offsets[first] <= limit; count++)
            ;
        CLF_TRY(encode_part(search, ids, offsets, first, count));
    }
    return CLF_OK;
}

clf_status clfi_beam_workspace_begin(clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t sources)
{
    const clf_network *network = search->network;
    CLF_TRY(check_sources(search, offsets, sources));
    CLF_TRY(reserve_sources(search, sources));
    CLF_TRY(make_positions(search));
    CLF_TRY(encode(search, ids, offsets, sources));
    search->shape = (clf_beam_shape){.active = (int32_t)sources, .width = search->width, .batch_words = (int32_t)sources,
                                     .classes = (int32_t)network->config.target.vocabulary, .end_token = search->end,
                                     .row_stride = search->steps};
    search->current = 0;
    CLF_TRY(reserve_host(search, 2 * sources));
    int32_t *first = search->host_ints, *count = first + sources;
    for (size_t s = 0; s < sources; s++) {
        first[s] = offsets[s];
        count[s] = offsets[s + 1] - offsets[s];
    }
    CLF_TRY(clfi_buffer_write(search->record.source_first, 0, first, sources * sizeof *first));
    CLF_TRY(clfi_buffer_write(search->record.source_count, 0, count, sources * sizeof *count));
    memset(first, 0, sources * sizeof *first);
    return clfi_buffer_write(search->record.finished_count, 0, first, sources * sizeof *first);
}

/* A cache that starts with room for `typical` tokens of each hypothesis. */
static clf_status reset_cache(clf_beam_search *search, int64_t hypotheses)
{
    enum { TYPICAL = 12 };
    if (search->cache.buffers) {
        clfi_kv_cache_reset(&search->cache);
        return CLF_OK;
    }
    return clfi_kv_cache_init(search->network->context, &search->network->decoder, hypotheses * TYPICAL, &search->cache);
}

clf_status clfi_beam_workspace_first_step(clf_beam_search *search, const int32_t *offsets, int64_t hypotheses)
{
    const clf_beam_state *state = &search->state[search->current];
    const size_t sources = (size_t)search->shape.active, each = (size_t)hypotheses, count = sources * each;
    const size_t stride = (size_t)search->shape.row_stride;
    int32_t *rows = NULL;
    clf_status st;
    CLF_GOTO(reset_cache(search, (int64_t)sources * search->width));
    CLF_GOTO(clfi_kv_cache_add(&search->cache, (int64_t)count));
    CLF_GOTO(clfi_alloc(count * stride, sizeof *rows, "beam search", &rows));
    CLF_GOTO(reserve_host(search, 5 * count));
    int32_t *words = search->host_ints, *tokens = words + count, *scores = tokens + count, *firsts = scores + count,
            *counts = firsts + count;
    for (size_t n = 0; n < count; n++) {
        const size_t s = n / each;
        const float score = n % each == 0 ? 0.0f : -INFINITY;
        words[s] = (int32_t)s;
        tokens[n] = search->begin;
        memcpy(&scores[n], &score, sizeof score);
        firsts[n] = offsets[s];
        counts[n] = offsets[s + 1] - offsets[s];
        rows[n * stride] = (int32_t)n;
    }
    CLF_GOTO(clfi_buffer_write(state->words, 0, words, sources * sizeof *words));
    CLF_GOTO(clfi_buffer_write(state->tokens, 0, tokens, count * sizeof *tokens));
    CLF_GOTO(clfi_buffer_write(state->scores, 0, scores, count * sizeof *scores));
    CLF_GOTO(clfi_buffer_write(state->first, 0, firsts, count * sizeof *firsts));
    CLF_GOTO(clfi_buffer_write(state->count, 0, counts, count * sizeof *counts));
    CLF_GOTO(clfi_buffer_write(state->rows, 0, rows, count * stride * sizeof *rows));
done:
    free(rows);
    return st;
}
