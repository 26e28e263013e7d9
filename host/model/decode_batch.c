/* SPDX-License-Identifier: MIT */
/* Cached decoding of sequences of any lengths: tables of cache rows with counts of their users on the host, one upload per pass. */
#include "model/decode_batch.h"

#include <string.h>

#include "base/alloc.h"
#include "model/decode_sources.h"
#include "op/embedding.h"

typedef struct sequence {
    bool is_open;
    int32_t length;
    int32_t source;
    int32_t next_free; /* of a sequence that is not open; -1: no more */
    int32_t *rows;     /* cache row of each token */
    size_t capacity;
    bool is_given; /* has an input in the pass at hand */
} sequence;

struct clf_decode_batch {
    clf_context *context;       /* retained */
    const clf_network *network; /* borrowed */
    clf_kv_cache cache;         /* rows: all that were ever taken */
    int32_t *users;             /* of each of these rows: sequences */
    size_t user_capacity;
    int32_t *free_rows; /* those without a user */
    size_t free_count, free_capacity;
    sequence *sequences;
    size_t count, capacity;
    int32_t next_free; /* first sequence that is not open; -1: all are */
    clf_packer packer;
    clf_decode_sources sources;
};

clf_status clfi_decode_create(clf_context *context, const clf_network *network, clf_decode_batch **out)
{
    enum { FIRST_ROWS = 256 };
    clf_decode_batch *batch;
    if (!network->generator || !network->target.table.count || network->decoder.layer_count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: expected a network with a decoder, its embedding and a generator");
    if (network->decoder.config.has_source && !network->source.table.count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: the decoder attends to sources, expected an embedding of theirs");
    CLF_TRY(clfi_alloc(1, sizeof *batch, "decoding", &batch));
    batch->context = context;
    batch->network = network;
    batch->next_free = -1;
    batch->packer = clfi_packer(context);
    clfi_context_retain(context);
    const clf_status st = clfi_kv_cache_init(context, &network->decoder, FIRST_ROWS, &batch->cache);
    if (st != CLF_OK) {
        clfi_decode_destroy(batch);
        return st;
    }
    *out = batch;
    return CLF_OK;
}

void clfi_decode_destroy(clf_decode_batch *batch)
{
    if (!batch)
        return;
    clfi_context_drain(batch->context); /* kernels may still read the network's weights */
    clfi_kv_cache_clear(&batch->cache);
    clfi_packer_clear(&batch->packer);
    clfi_decode_sources_clear(&batch->sources);
    for (size_t i = 0; i < batch->count; i++)
        free(batch->sequences[i].rows);
    free(batch->sequences);
    free(batch->users);
    free(batch->free_rows);
    clfi_context_release(batch->context);
    free(batch);
}

static sequence *find(const clf_decode_batch *batch, int32_t number)
{
    return number >= 0 && (size_t)number < batch->count && batch->sequences[number].is_open ? &batch->sequences[number] : NULL;
}

static clf_status get(const clf_decode_batch *batch, int32_t number, sequence **out)
{
    *out = find(batch, number);
    if (!*out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: there is no sequence %d", number);
    return CLF_OK;
}

clf_context *clfi_decode_context(const clf_decode_batch *batch)
{
    return batch->context;
}

clf_status clfi_decode_set_sources(clf_decode_batch *batch, const int32_t *ids, const int32_t *offsets, size_t count)
{
    if (!batch->network->decoder.config.has_source)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: the decoder attends to no sources");
    clfi_decode_drop_all(batch);
    return clfi_decode_sources_set(batch->context, batch->network, ids, offsets, count, &batch->sources);
}

static clf_status open_sequence(clf_decode_batch *batch, int32_t source, int32_t *out_sequence)
{
    int32_t i = batch->next_free;
    if (i < 0) {
        if (batch->count == INT32_MAX)
            CLF_FAIL(CLF_UNSUPPORTED, "decoding: %zu sequences", batch->count);
        CLF_TRY(clfi_grow(&batch->sequences, &batch->capacity, batch->count + 1, sizeof *batch->sequences, "sequences"));
        i = (int32_t)batch->count++;
        batch->sequences[i] = (sequence){.next_free = -1};
    }
    sequence *s = &batch->sequences[i];
    batch->next_free = s->next_free;
    s->is_open = true;
    s->length = 0;
    s->source = source;
    *out_sequence = i;
    return CLF_OK;
}

clf_status clfi_decode_open(clf_decode_batch *batch, int32_t *out_sequence)
{
    if (batch->network->decoder.config.has_source)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: the decoder attends to sources: expected a sequence on one of them");
    return open_sequence(batch, -1, out_sequence);
}

clf_status clfi_decode_open_on(clf_decode_batch *batch, int32_t source, int32_t *out_sequence)
{
    if (source < 0 || source >= batch->sources.count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: there is no source %d", source);
    return open_sequence(batch, source, out_sequence);
}

static void close_sequence(clf_decode_batch *batch, int32_t number)
{
    sequence *s = &batch->sequences[number];
    s->is_open = false;
    s->next_free = batch->next_free;
    batch->next_free = number;
}

clf_status clfi_decode_fork(clf_decode_batch *batch, int32_t number, int32_t *out_sequence)
{
    sequence *from, *to;
    int32_t copy;
    CLF_TRY(get(batch, number, &from));
    CLF_TRY(open_sequence(batch, from->source, &copy));
    from = &batch->sequences[number]; /* the list may have moved */
    to = &batch->sequences[copy];
    const clf_status st = clfi_grow(&to->rows, &to->capacity, (size_t)from->length, sizeof *to->rows, "cache rows");
    if (st != CLF_OK) {
        close_sequence(batch, copy);
        return st;
    }
    memcpy(to->rows, from->rows, (size_t)from->length * sizeof *to->rows);
    to->length = from->length;
    for (int32_t i = 0; i < to->length; i++)
        batch->users[to->rows[i]]++;
    *out_sequence = copy;
    return CLF_OK;
}

static void give_back(clf_decode_batch *batch, const int32_t *rows, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (--batch->users[rows[i]] == 0)
            batch->free_rows[batch->free_count++] = rows[i];
}

clf_status clfi_decode_keep(clf_decode_batch *batch, int32_t number, int32_t length)
{
    sequence *s;
    CLF_TRY(get(batch, number, &s));
    if (length < 0 || length > s->length)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d has %d tokens, %d are to be kept", number, s->length, length);
    give_back(batch, s->rows + length, s->length - length);
    s->length = length;
    return CLF_OK;
}

clf_status clfi_decode_drop(clf_decode_batch *batch, int32_t number)
{
    CLF_TRY(clfi_decode_keep(batch, number, 0));
    close_sequence(batch, number);
    return CLF_OK;
}

void clfi_decode_drop_all(clf_decode_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const sequence *s = &batch->sequences[i];
        if (!s->is_open)
            continue;
        give_back(batch, s->rows, s->length);
        close_sequence(batch, (int32_t)i);
    }
}

int32_t clfi_decode_length(const clf_decode_batch *batch, int32_t number)
{
    const sequence *s = find(batch, number);
    return s ? s->length : 0;
}

clf_decode_usage clfi_decode_usage(const clf_decode_batch *batch)
{
    return (clf_decode_usage){batch->cache.rows - (int64_t)batch->free_count, batch->cache.rows};
}

static clf_status check_input(const clf_decode_batch *batch, const clf_decode_input *input)
{
    const clf_embedding_config *config = &batch->network->config.target;
    sequence *s;
    CLF_TRY(get(batch, input->sequence, &s));
    if (s->is_given || input->count < 1 || !input->tokens)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d is given %s", input->sequence, s->is_given ? "twice" : "no tokens");
    s->is_given = true;
    if (input->count > config->max_positions - s->length)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d has %d tokens and is given %d, the model has %lld positions", input->sequence,
                 s->length, input->count, (long long)config->max_positions);
    for (int32_t i = 0; i < input->count; i++)
        if (input->tokens[i] < 0 || input->tokens[i] >= config->vocabulary)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d: token %d is outside 0..%lld", input->sequence, input->tokens[i],
                     (long long)config->vocabulary - 1);
    return CLF_OK;
}

/* All inputs, and what they come to. most: tokens of the longest sequence with its new ones. */
static clf_status check_inputs(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, size_t *out_tokens, size_t *out_most)
{
    clf_status st = CLF_OK;
    size_t tokens = 0, most = 0, checked = 0;
    for (; st == CLF_OK && checked < count; checked++) {
        st = check_input(batch, &inputs[checked]);
        if (st == CLF_OK) {
            const size_t length = (size_t)(batch->sequences[inputs[checked].sequence].length + inputs[checked].count);
            tokens += (size_t)inputs[checked].count;
            most = length > most ? length : most;
        }
    }
    for (size_t i = 0; i < checked; i++)
        if (find(batch, inputs[i].sequence))
            batch->sequences[inputs[i].sequence].is_given = false;
    *out_tokens = tokens;
    *out_most = most;
    return st;
}

/* Rows for `count` more tokens of a sequence, behind those of the ones it has. */
static clf_status take_rows(clf_decode_batch *batch, sequence *s, int32_t count)
{
    CLF_TRY(clfi_grow(&s->rows, &s->capacity, (size_t)(s->length + count), sizeof *s->rows, "cache rows"));
    const int64_t reused = (int64_t)batch->free_count < count ? (int64_t)batch->free_count : count;
    const int64_t first = batch->cache.rows, all = first + count - reused;
    CLF_TRY(clfi_grow(&batch->users, &batch->user_capacity, (size_t)all, sizeof *batch->users, "cache rows"));
    CLF_TRY(clfi_grow(&batch->free_rows, &batch->free_capacity, (size_t)all, sizeof *batch->free_rows, "cache rows"));
    if (count > reused)
        CLF_TRY(clfi_kv_cache_add(&batch->cache, count - reused));
    int32_t *rows = s->rows + s->length;
    for (int32_t i = 0; i < count; i++) {
        rows[i] = i < reused ? batch->free_rows[--batch->free_count] : (int32_t)(first + i - reused);
        batch->users[rows[i]] = 1;
    }
    return CLF_OK;
}

/* What goes to the device for a pass, in this order: of each token, the place of each input's last token, and the table of what each token
 * sees. */
typedef struct pass_table {
    int64_t tokens, inputs, most;
    int64_t ids, positions, counts, stored, first, sources, last, rows, all; /* where each begins */
} pass_table;

static clf_status lay_out(const clf_decode_batch *batch, size_t inputs, size_t tokens, size_t most, pass_table *out)
{
    size_t table, all;
    const int64_t columns = batch->network->decoder.config.has_source ? 6 : 4, n = (int64_t)tokens;
    if (!clfi_mul_size(tokens, most, &table) || !clfi_add_size(table, (size_t)columns * tokens + inputs, &all) || all > INT64_MAX ||
        tokens > INT32_MAX)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "E_OVERFLOW: decoding %zu tokens at once", tokens);
    *out = (pass_table){.tokens = n,
                        .inputs = (int64_t)inputs,
                        .most = (int64_t)most,
                        .positions = n,
                        .counts = 2 * n,
                        .stored = 3 * n,
                        .first = 4 * n,
                        .sources = 5 * n,
                        .last = columns * n,
                        .rows = columns * n + (int64_t)inputs,
                        .all = (int64_t)all};
    return CLF_OK;
}

static clf_status upload(clf_decode_batch *batch, const clf_decode_input *inputs, const pass_table *at)
{
    const int32_t *offsets = batch->sources.offsets;
    int32_t *host;
    CLF_TRY(clfi_packer_host(&batch->packer, (size_t)at->all, &host));
    int32_t *rows = host + at->rows;
    memset(rows, 0, (size_t)(at->tokens * at->most) * sizeof *rows);
    int64_t n = 0;
    for (int64_t i = 0; i < at->inputs; i++) {
        const sequence *s = &batch->sequences[inputs[i].sequence];
        for (int32_t t = 0; t < inputs[i].count; t++, n++) {
            const int32_t position = s->length + t;
            host[at->ids + n] = inputs[i].tokens[t];
            host[at->positions + n] = position;
            host[at->counts + n] = position + 1;
            host[at->stored + n] = s->rows[position];
            if (s->source >= 0) {
                host[at->first + n] = offsets[s->source];
                host[at->sources + n] = offsets[s->source + 1] - offsets[s->source];
            }
            memcpy(rows + n * at->most, s->rows, (size_t)(position + 1) * sizeof *rows);
        }
        host[at->last + i] = (int32_t)n - 1;
    }
    return clfi_packer_send(&batch->packer, (size_t)at->all);
}

static clf_status forward(clf_decode_batch *batch, const pass_table *at, bool is_all, const clf_view *logits)
{
    clf_context *context = batch->context;
    const clf_network *network = batch->network;
    const int64_t tokens = at->tokens, width = network->config.decoder.width;
    const bool has_source = network->decoder.config.has_source;
    clf_buffer *values = batch->packer.buffer;
    const clf_view ids = clfi_view_dense(values, CLF_I32, at->ids, 1, &tokens);
    const clf_view positions = clfi_view_dense(values, CLF_I32, at->positions, 1, &tokens);
    const clf_view counts = clfi_view_dense(values, CLF_I32, at->counts, 1, &tokens);
    const clf_view stored = clfi_view_dense(values, CLF_I32, at->stored, 1, &tokens);
    const clf_view first = clfi_view_dense(values, CLF_I32, at->first, 1, &tokens);
    const clf_view sources = clfi_view_dense(values, CLF_I32, at->sources, 1, &tokens);
    const clf_view last = clfi_view_dense(values, CLF_I32, at->last, 1, &at->inputs);
    const clf_view rows = clfi_view_dense(values, CLF_I32, at->rows, 2, (int64_t[]){tokens, at->most});
    clf_decoder_step step = {
        .cache = &batch->cache, .rows = &rows, .keys = at->most, .counts = &counts, .stored = &stored, .positions = &positions};
    if (has_source) {
        step.memory = &batch->sources.memory;
        step.first = &first;
        step.count = &sources;
        step.most = batch->sources.longest;
    }
    clf_view x, features;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){tokens, width}, &x));
    CLF_TRY(clfi_network_embed(context, &network->target, &ids, &positions, NULL, &x));
    CLF_TRY(clfi_decoder_step(context, &network->decoder, &step, &x));
    if (is_all || at->inputs == tokens)
        return clfi_network_generate(context, network, &x, logits);
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){at->inputs, width}, &features));
    CLF_TRY(clfi_embedding_sum(context, &(clf_embedding_term){&x, &last, 1}, 1, 1.0f, &features)); /* the last tokens' rows */
    return clfi_network_generate(context, network, &features, logits);
}

static clf_status run(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, bool is_all, clf_view *logits)
{
    size_t tokens, most, taken = 0;
    pass_table table;
    clf_status st = CLF_OK;
    CLF_TRY(check_inputs(batch, inputs, count, &tokens, &most));
    CLF_TRY(lay_out(batch, count, tokens, most, &table));
    const int64_t dim[2] = {(int64_t)(is_all ? tokens : count), batch->network->config.target.vocabulary};
    CLF_TRY(clfi_view_temporary(batch->context, CLF_F32, 2, dim, logits));
    if (count == 0)
        return CLF_OK;
    const clf_arena_mark mark = clfi_arena_top(batch->context);
    for (; st == CLF_OK && taken < count; taken += st == CLF_OK)
        st = take_rows(batch, &batch->sequences[inputs[taken].sequence], inputs[taken].count);
    if (st == CLF_OK)
        st = upload(batch, inputs, &table);
    if (st == CLF_OK)
        st = forward(batch, &table, is_all, logits);
    clfi_arena_release(batch->context, mark);
    for (size_t i = 0; i < taken; i++) {
        sequence *s = &batch->sequences[inputs[i].sequence];
        if (st == CLF_OK)
            s->length += inputs[i].count;
        else
            give_back(batch, s->rows + s->length, inputs[i].count);
    }
    return st;
}

clf_status clfi_decode_run(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, clf_view *logits)
{
    return run(batch, inputs, count, false, logits);
}

clf_status clfi_decode_run_all(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, clf_view *logits)
{
    return run(batch, inputs, count, true, logits);
}

clf_status clfi_decode_reserve(clf_decode_batch *batch, int64_t rows, size_t tokens, size_t longest)
{
    pass_table table;
    int32_t *host;
    CLF_TRY(lay_out(batch, tokens, tokens, longest, &table));
    CLF_TRY(clfi_packer_host(&batch->packer, (size_t)table.all, &host));
    CLF_TRY(clfi_grow(&batch->users, &batch->user_capacity, (size_t)rows, sizeof *batch->users, "cache rows"));
    CLF_TRY(clfi_grow(&batch->free_rows, &batch->free_capacity, (size_t)rows, sizeof *batch->free_rows, "cache rows"));
    return clfi_kv_cache_reserve(&batch->cache, rows);
}
