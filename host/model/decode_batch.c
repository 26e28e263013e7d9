/* SPDX-License-Identifier: MIT */
/* Cached decoding of sequences of any lengths: tables of cache rows with counts of their users on the host, one upload per pass. */
#include "model/decode_batch.h"

#include <string.h>

#include "base/alloc.h"
#include "nn/decoder.h"
#include "op/embedding.h"
#include "runtime/launch_graph.h"

typedef struct sequence {
    bool is_open;
    int32_t length;
    int32_t next_free; /* of a sequence that is not open; -1: no more */
    int32_t *rows;     /* cache row of each token */
    size_t capacity;
    bool has_source;
    int32_t source_length;
    int32_t *source_rows; /* cache row of each of the source's tokens */
    bool is_given;        /* has an input in the pass at hand */
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
    clf_launch_graph *step;       /* of a single token; NULL: kernels are launched one by one */
    clf_launch_graph *batch_step; /* of a token of each of several sequences */
    int32_t *held;                /* sequences that hold the sources of clfi_decode_set_sources */
    size_t held_count, held_capacity;
};

clf_status clfi_decode_create(clf_context *context, const clf_network *network, clf_dtype cache, clf_decode_batch **out)
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
    clf_status st = clfi_kv_cache_init(context, &network->decoder, cache, FIRST_ROWS, &batch->cache);
    if (st == CLF_OK)
        st = clfi_graph_create(context, &batch->step);
    if (st == CLF_OK)
        st = clfi_graph_create(context, &batch->batch_step);
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
    clfi_graph_destroy(batch->step);
    clfi_graph_destroy(batch->batch_step);
    clfi_kv_cache_clear(&batch->cache);
    clfi_packer_clear(&batch->packer);
    for (size_t i = 0; i < batch->count; i++) {
        free(batch->sequences[i].rows);
        free(batch->sequences[i].source_rows);
    }
    free(batch->held);
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

clf_status clfi_decode_open(clf_decode_batch *batch, int32_t *out_sequence)
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
    *out_sequence = i;
    return CLF_OK;
}

clf_status clfi_decode_open_on(clf_decode_batch *batch, int32_t source, int32_t *out_sequence)
{
    if (source < 0 || (size_t)source >= batch->held_count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: there is no source %d", source);
    return clfi_decode_fork(batch, batch->held[source], out_sequence);
}

static void give_back(clf_decode_batch *batch, const int32_t *rows, int32_t count)
{
    for (int32_t i = count; i-- > 0;) /* so that they are taken again in their order */
        if (--batch->users[rows[i]] == 0)
            batch->free_rows[batch->free_count++] = rows[i];
}

static void close_sequence(clf_decode_batch *batch, int32_t number)
{
    sequence *s = &batch->sequences[number];
    give_back(batch, s->rows, s->length);
    give_back(batch, s->source_rows, s->source_length);
    free(s->source_rows);
    s->source_rows = NULL;
    s->length = s->source_length = 0;
    s->is_open = s->has_source = false;
    s->next_free = batch->next_free;
    batch->next_free = number;
}

clf_status clfi_decode_fork(clf_decode_batch *batch, int32_t number, int32_t *out_sequence)
{
    sequence *from, *to;
    int32_t copy;
    CLF_TRY(get(batch, number, &from));
    CLF_TRY(clfi_decode_open(batch, &copy));
    from = &batch->sequences[number]; /* the list may have moved */
    to = &batch->sequences[copy];
    clf_status st = clfi_grow(&to->rows, &to->capacity, (size_t)from->length, sizeof *to->rows, "cache rows");
    if (st == CLF_OK && from->has_source)
        st = clfi_alloc((size_t)from->source_length, sizeof *to->source_rows, "cache rows", &to->source_rows);
    if (st != CLF_OK) {
        close_sequence(batch, copy);
        return st;
    }
    to->length = from->length;
    for (int32_t i = 0; i < to->length; i++) /* none, and no array, before the first token */
        batch->users[to->rows[i] = from->rows[i]]++;
    to->has_source = from->has_source;
    to->source_length = from->source_length;
    for (int32_t i = 0; i < to->source_length; i++)
        batch->users[to->source_rows[i] = from->source_rows[i]]++;
    *out_sequence = copy;
    return CLF_OK;
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
    sequence *s;
    CLF_TRY(get(batch, number, &s));
    close_sequence(batch, number);
    return CLF_OK;
}

void clfi_decode_drop_all(clf_decode_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const sequence *s = &batch->sequences[i];
        if (s->is_open)
            close_sequence(batch, (int32_t)i);
    }
    batch->held_count = 0;
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
    if (batch->network->decoder.config.has_source && !s->has_source)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d has no source", input->sequence);
    if (input->count > config->max_positions - s->length)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d has %d tokens and is given %d, the model has %lld positions", input->sequence,
                 s->length, input->count, (long long)config->max_positions);
    for (int32_t i = 0; i < input->count; i++)
        if (input->tokens[i] < 0 || input->tokens[i] >= config->vocabulary)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d: token %d is outside 0..%lld", input->sequence, input->tokens[i],
                     (long long)config->vocabulary - 1);
    return CLF_OK;
}

/* What the inputs of a pass come to. */
typedef struct pass_size {
    size_t inputs, tokens;
    size_t most;        /* tokens of the longest sequence with its new ones */
    size_t most_source; /* and of the longest source */
} pass_size;

static clf_status check_inputs(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, pass_size *out)
{
    clf_status st = CLF_OK;
    pass_size size = {.inputs = count};
    size_t checked = 0;
    for (; st == CLF_OK && checked < count; checked++) {
        st = check_input(batch, &inputs[checked]);
        if (st == CLF_OK) {
            const sequence *s = &batch->sequences[inputs[checked].sequence];
            const size_t length = (size_t)(s->length + inputs[checked].count), source = (size_t)s->source_length;
            size.tokens += (size_t)inputs[checked].count;
            size.most = length > size.most ? length : size.most;
            size.most_source = source > size.most_source ? source : size.most_source;
        }
    }
    for (size_t i = 0; i < checked; i++)
        if (find(batch, inputs[i].sequence))
            batch->sequences[inputs[i].sequence].is_given = false;
    *out = size;
    return st;
}

/* Cache rows with one user each. */
static clf_status take_rows(clf_decode_batch *batch, int32_t *rows, int32_t count)
{
    const int64_t reused = (int64_t)batch->free_count < count ? (int64_t)batch->free_count : count;
    const int64_t first = batch->cache.rows, all = first + count - reused;
    CLF_TRY(clfi_grow(&batch->users, &batch->user_capacity, (size_t)all, sizeof *batch->users, "cache rows"));
    CLF_TRY(clfi_grow(&batch->free_rows, &batch->free_capacity, (size_t)all, sizeof *batch->free_rows, "cache rows"));
    if (count > reused)
        CLF_TRY(clfi_kv_cache_add(&batch->cache, count - reused));
    for (int32_t i = 0; i < count; i++) {
        rows[i] = i < reused ? batch->free_rows[--batch->free_count] : (int32_t)(first + i - reused);
        batch->users[rows[i]] = 1;
    }
    return CLF_OK;
}

/* Rows for `count` more tokens of a sequence, behind those of the ones it has. */
static clf_status extend(clf_decode_batch *batch, sequence *s, int32_t count)
{
    CLF_TRY(clfi_grow(&s->rows, &s->capacity, (size_t)(s->length + count), sizeof *s->rows, "cache rows"));
    return take_rows(batch, s->rows + s->length, count);
}

/* What goes to the device for a pass, in this order: of each token, the place of each input's last token, and the tables of what each token
 * sees of its sequence and of its source. */
typedef struct pass_table {
    int64_t tokens, inputs, most, most_source;
    int64_t ids, positions, counts, stored, sources, last, rows, source_rows, all; /* where each begins */
} pass_table;

/* A step that may be a launch graph has columns for some tokens more, so that later steps have the same table and need no new recording. */
static clf_status lay_out(const clf_decode_batch *batch, const pass_size *size, pass_table *out)
{
    enum { MORE = 64 };
    size_t most = size->most, own, source, all;
    const int64_t n = (int64_t)size->tokens, inputs = (int64_t)size->inputs;
    if (batch->step && size->tokens == size->inputs)
        clfi_round_up(size->most, MORE, &most);
    if (!clfi_mul_size(size->tokens, most, &own) || !clfi_mul_size(size->tokens, size->most_source, &source) ||
        !clfi_add_size(own, source, &all) || !clfi_add_size(all, 5 * size->tokens + size->inputs, &all) || all > INT64_MAX ||
        size->tokens > INT32_MAX)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "E_OVERFLOW: decoding %zu tokens at once", size->tokens);
    *out = (pass_table){.tokens = n,
                        .inputs = inputs,
                        .most = (int64_t)most,
                        .most_source = (int64_t)size->most_source,
                        .positions = n,
                        .counts = 2 * n,
                        .stored = 3 * n,
                        .sources = 4 * n,
                        .last = 5 * n,
                        .rows = 5 * n + inputs,
                        .source_rows = 5 * n + inputs + (int64_t)own,
                        .all = (int64_t)all};
    return CLF_OK;
}

static clf_status upload(clf_decode_batch *batch, const clf_decode_input *inputs, const pass_table *at)
{
    int32_t *host;
    CLF_TRY(clfi_packer_host(&batch->packer, (size_t)at->all, &host));
    int32_t *rows = host + at->rows, *source_rows = host + at->source_rows;
    memset(rows, 0, (size_t)(at->tokens * (at->most + at->most_source)) * sizeof *rows);
    int64_t n = 0;
    for (int64_t i = 0; i < at->inputs; i++) {
        const sequence *s = &batch->sequences[inputs[i].sequence];
        for (int32_t t = 0; t < inputs[i].count; t++, n++) {
            const int32_t position = s->length + t;
            host[at->ids + n] = inputs[i].tokens[t];
            host[at->positions + n] = position;
            host[at->counts + n] = position + 1;
            host[at->stored + n] = s->rows[position];
            host[at->sources + n] = s->source_length;
            if (s->source_length)
                memcpy(source_rows + n * at->most_source, s->source_rows, (size_t)s->source_length * sizeof *rows);
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
    clf_buffer *values = batch->packer.buffer;
    const clf_view ids = clfi_view_dense(values, CLF_I32, at->ids, 1, &tokens);
    const clf_view positions = clfi_view_dense(values, CLF_I32, at->positions, 1, &tokens);
    const clf_view counts = clfi_view_dense(values, CLF_I32, at->counts, 1, &tokens);
    const clf_view stored = clfi_view_dense(values, CLF_I32, at->stored, 1, &tokens);
    const clf_view sources = clfi_view_dense(values, CLF_I32, at->sources, 1, &tokens);
    const clf_view last = clfi_view_dense(values, CLF_I32, at->last, 1, &at->inputs);
    const clf_view rows = clfi_view_dense(values, CLF_I32, at->rows, 2, (int64_t[]){tokens, at->most});
    const clf_view source_rows = clfi_view_dense(values, CLF_I32, at->source_rows, 2, (int64_t[]){tokens, at->most_source});
    const clf_decoder_step step = {.cache = &batch->cache,
                                   .rows = &rows,
                                   .keys = at->most,
                                   .counts = &counts,
                                   .stored = &stored,
                                   .count = &sources,
                                   .most = at->most_source,
                                   .source_rows = &source_rows,
                                   .positions = &positions};
    clf_view x, features;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){tokens, width}, &x));
    CLF_TRY(clfi_network_embed(context, &network->target, &ids, &positions, NULL, &x));
    CLF_TRY(clfi_decoder_step(context, &network->decoder, &step, &x));
    if (is_all)
        return clfi_network_generate(context, network, &x, logits);
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){at->inputs, width}, &features));
    CLF_TRY(clfi_embedding_sum(context, &(clf_embedding_term){&x, &last, 1}, 1, 1.0f, &features)); /* the last tokens' rows */
    return clfi_network_generate(context, network, &features, logits);
}

/* All that a step's launches follow from, beside what never changes while there is a batch. */
typedef struct step_key {
    pass_table table;
    const clf_buffer *values, *logits;
    int64_t logits_offset;
    clf_arena_mark top; /* where temporary memory begins */
    uint64_t cache_moves;
} step_key;

/* One token of one sequence, or of each of several, is a launch graph where the device runs them. */
static clf_status step(clf_decode_batch *batch, const pass_table *table, const clf_view *logits)
{
    const step_key key = {*table, batch->packer.buffer, logits->buffer, logits->offset, clfi_arena_top(batch->context), batch->cache.moves};
    clf_launch_graph *graph = table->tokens == 1 ? batch->step : batch->batch_step;
    return clfi_graph_end(graph, clfi_graph_begin(graph, &key, sizeof key) ? forward(batch, table, true, logits) : CLF_OK);
}

static clf_status run(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, bool is_all, clf_view *logits)
{
    size_t taken = 0;
    pass_size size;
    pass_table table;
    clf_status st = CLF_OK;
    CLF_TRY(check_inputs(batch, inputs, count, &size));
    CLF_TRY(lay_out(batch, &size, &table));
    const int64_t dim[2] = {(int64_t)(is_all ? size.tokens : count), batch->network->config.target.vocabulary};
    CLF_TRY(clfi_view_temporary(batch->context, CLF_F32, 2, dim, logits));
    if (count == 0)
        return CLF_OK;
    const clf_arena_mark mark = clfi_arena_top(batch->context);
    for (; st == CLF_OK && taken < count; taken += st == CLF_OK)
        st = extend(batch, &batch->sequences[inputs[taken].sequence], inputs[taken].count);
    if (st == CLF_OK)
        st = upload(batch, inputs, &table);
    if (st == CLF_OK)
        st = table.tokens == table.inputs ? step(batch, &table, logits) : forward(batch, &table, is_all, logits);
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

static clf_status check_source(const clf_decode_batch *batch, const clf_decode_input *inputs, size_t index)
{
    const clf_decode_input *input = &inputs[index];
    sequence *s;
    CLF_TRY(get(batch, input->sequence, &s));
    if (!batch->network->decoder.config.has_source)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d is given a source, the decoder attends to none", input->sequence);
    bool has_source = s->has_source;
    for (size_t i = 0; i < index; i++)
        has_source |= inputs[i].sequence == input->sequence;
    if (has_source || input->count < 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d %s", input->sequence,
                 has_source ? "has a source" : "is given fewer than no tokens");
    return CLF_OK;
}

/* The sources one after another: ids and offsets of clfi_pack_sequences, in one allocation. */
static clf_status join_sources(const clf_decode_input *inputs, size_t count, int32_t **out_ids, int32_t **out_offsets)
{
    size_t tokens = 0;
    int32_t *ids;
    for (size_t i = 0; i < count; i++)
        tokens += (size_t)inputs[i].count;
    if (tokens > INT32_MAX)
        CLF_FAIL(CLF_UNSUPPORTED, "decoding: sources of %zu tokens", tokens);
    CLF_TRY(clfi_alloc(tokens + count + 1, sizeof *ids, "sources", &ids));
    int32_t *offsets = ids + tokens;
    for (size_t i = 0; i < count; i++) {
        memcpy(ids + offsets[i], inputs[i].tokens, (size_t)inputs[i].count * sizeof *ids);
        offsets[i + 1] = offsets[i] + inputs[i].count;
    }
    *out_ids = ids;
    *out_offsets = offsets;
    return CLF_OK;
}

/* x [T,C] = the encoder's outputs for the packed sources. */
static clf_status encode(clf_decode_batch *batch, const int32_t *ids, const int32_t *offsets, size_t count, clf_view *x)
{
    const clf_network *network = batch->network;
    clf_token_batch tokens;
    CLF_TRY(clfi_pack_sequences(&batch->packer, "source", &network->config.source, ids, NULL, offsets, count, &tokens));
    CLF_TRY(clfi_view_temporary(batch->context, CLF_F32, 2, (int64_t[]){tokens.tokens, network->config.encoder.width}, x));
    CLF_TRY(clfi_network_embed(batch->context, &network->source, &tokens.ids, &tokens.positions, NULL, x));
    return clfi_encoder_forward(batch->context, &network->encoder, tokens.attention, &tokens.positions, x);
}

/* Keys and values of the encoder's outputs into these cache rows. */
static clf_status store_sources(clf_decode_batch *batch, const clf_view *x, const int32_t *rows)
{
    const int64_t count = x->dim[0];
    int32_t *host;
    CLF_TRY(clfi_packer_host(&batch->packer, (size_t)count, &host));
    memcpy(host, rows, (size_t)count * sizeof *rows);
    CLF_TRY(clfi_packer_send(&batch->packer, (size_t)count));
    const clf_view stored = clfi_view_dense(batch->packer.buffer, CLF_I32, 0, 1, &count);
    return clfi_decoder_source_store(batch->context, &batch->network->decoder, x, &batch->cache, &stored);
}

/* The sequences own the rows from here on; nothing has changed on failure. */
static clf_status give_rows(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, const int32_t *rows)
{
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < count; rows += inputs[i++].count) {
        sequence *s = &batch->sequences[inputs[i].sequence];
        st = clfi_alloc((size_t)inputs[i].count, sizeof *s->source_rows, "cache rows", &s->source_rows);
        if (st == CLF_OK) {
            memcpy(s->source_rows, rows, (size_t)inputs[i].count * sizeof *rows);
            s->source_length = inputs[i].count;
            s->has_source = true;
        }
    }
    for (size_t i = 0; st != CLF_OK && i < count; i++) {
        sequence *s = &batch->sequences[inputs[i].sequence];
        free(s->source_rows);
        s->source_rows = NULL;
        s->source_length = 0;
        s->has_source = false;
    }
    return st;
}

/* Sources that are encoded together. */
static clf_status give_sources(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count)
{
    int32_t *ids = NULL, *offsets = NULL, *rows = NULL;
    clf_view x;
    clf_status st;
    bool has_rows = false;
    const clf_arena_mark mark = clfi_arena_top(batch->context);
    CLF_GOTO(join_sources(inputs, count, &ids, &offsets));
    CLF_GOTO(clfi_alloc((size_t)offsets[count], sizeof *rows, "cache rows", &rows));
    if (offsets[count] > 0) {
        CLF_GOTO(encode(batch, ids, offsets, count, &x));
        CLF_GOTO(take_rows(batch, rows, offsets[count]));
        has_rows = true;
        CLF_GOTO(store_sources(batch, &x, rows));
    }
    CLF_GOTO(give_rows(batch, inputs, count, rows));
    has_rows = false;
done:
    if (has_rows)
        give_back(batch, rows, offsets[count]);
    clfi_arena_release(batch->context, mark);
    free(ids);
    free(rows);
    return st;
}

clf_status clfi_decode_sources(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count)
{
    const int64_t limit = (int64_t)clfi_batch_tokens(batch->context);
    for (size_t i = 0; i < count; i++)
        CLF_TRY(check_source(batch, inputs, i));
    for (size_t first = 0, part; first < count; first += part) {
        int64_t tokens = inputs[first].count;
        for (part = 1; first + part < count && tokens + inputs[first + part].count <= limit; part++)
            tokens += inputs[first + part].count;
        CLF_TRY(give_sources(batch, inputs + first, part));
    }
    return CLF_OK;
}

/* A sequence for each source, which those to come are forked from. */
static clf_status hold_sources(clf_decode_batch *batch, const int32_t *ids, const int32_t *offsets, clf_decode_input *inputs, size_t count)
{
    for (; batch->held_count < count; batch->held_count++) {
        const size_t s = batch->held_count;
        CLF_TRY(clfi_decode_open(batch, &batch->held[s]));
        inputs[s] = (clf_decode_input){batch->held[s], ids + offsets[s], offsets[s + 1] - offsets[s]};
    }
    return clfi_decode_sources(batch, inputs, count);
}

clf_status clfi_decode_set_sources(clf_decode_batch *batch, const int32_t *ids, const int32_t *offsets, size_t count)
{
    clf_decode_input *inputs;
    if (!batch->network->decoder.config.has_source)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: the decoder attends to no sources");
    if (count >= INT32_MAX || offsets[0] != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: %zu sources, the first at %d", count, offsets[0]);
    clfi_decode_drop_all(batch);
    CLF_TRY(clfi_grow(&batch->held, &batch->held_capacity, count, sizeof *batch->held, "sources"));
    CLF_TRY(clfi_alloc(count, sizeof *inputs, "sources", &inputs));
    const clf_status st = hold_sources(batch, ids, offsets, inputs, count);
    free(inputs);
    if (st != CLF_OK)
        clfi_decode_drop_all(batch);
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
    CLF_TRY(lay_out(batch, &(pass_size){.inputs = tokens, .tokens = tokens, .most = longest}, &table));
    CLF_TRY(clfi_packer_host(&batch->packer, (size_t)table.all, &host));
    CLF_TRY(clfi_grow(&batch->users, &batch->user_capacity, (size_t)rows, sizeof *batch->users, "cache rows"));
    CLF_TRY(clfi_grow(&batch->free_rows, &batch->free_capacity, (size_t)rows, sizeof *batch->free_rows, "cache rows"));
    return clfi_kv_cache_reserve(&batch->cache, rows);
}
