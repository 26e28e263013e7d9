/* SPDX-License-Identifier: MIT */
/* Runs passes of a decode batch: uploads tables of what each token sees, and runs the network. A step, which gives each sequence one token,
 * runs as a launch graph if the device supports that. */
#include <string.h>

#include "base/alloc.h"
#include "model/decode_batch_parts.h"
#include "nn/decoder.h"
#include "op/embedding.h"

static clf_status check_input(const clf_decode_batch *batch, const clf_decode_input *input)
{
    const clf_embedding_config *config = &batch->network->config.target;
    clf_decode_sequence *s;
    CLF_TRY(clfi_decode_find(batch, input->sequence, &s));
    if (s->is_given || input->count < 1 || !input->tokens)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d %s", input->sequence, s->is_given ? "is given twice" : "gets no tokens");
    s->is_given = true;
    if (clfi_decode_lacks_source(batch, input->sequence))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d has no source", input->sequence);
    if (input->count > config->max_positions - s->length)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d has %d tokens and gets %d, the model has %lld positions", input->sequence,
                 s->length, input->count, (long long)config->max_positions);
    for (int32_t i = 0; i < input->count; i++)
        if (input->tokens[i] < 0 || input->tokens[i] >= config->vocabulary)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d: token %d is outside 0..%lld", input->sequence, input->tokens[i],
                     (long long)config->vocabulary - 1);
    return CLF_OK;
}

typedef struct pass_size {
    size_t inputs, tokens;
    size_t most;        /* tokens of the longest sequence, including its new ones */
    size_t most_source; /* tokens of the longest source */
} pass_size;

static clf_status check_inputs(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, pass_size *out)
{
    clf_status st = CLF_OK;
    pass_size size = {.inputs = count};
    size_t checked = 0;
    for (; st == CLF_OK && checked < count; checked++) {
        st = check_input(batch, &inputs[checked]);
        if (st == CLF_OK) {
            const clf_decode_sequence *s = &batch->sequences[inputs[checked].sequence];
            const size_t length = (size_t)(s->length + inputs[checked].count), source = (size_t)s->source_length;
            size.tokens += (size_t)inputs[checked].count;
            size.most = length > size.most ? length : size.most;
            size.most_source = source > size.most_source ? source : size.most_source;
        }
    }
    for (size_t i = 0; i < checked; i++)
        if (clfi_decode_sequence(batch, inputs[i].sequence))
            batch->sequences[inputs[i].sequence].is_given = false;
    *out = size;
    return st;
}

/* Takes cache rows for `count` more tokens of a sequence, after its other rows. */
static clf_status extend(clf_decode_batch *batch, clf_decode_sequence *s, int32_t count)
{
    CLF_TRY(clfi_grow(&s->rows, &s->capacity, (size_t)(s->length + count), sizeof *s->rows, "cache rows"));
    return clfi_decode_take_rows(batch, s->rows + s->length, count);
}

/* Offsets of the tables for the device, in int32 elements. One number per token: id, position, count of visible tokens, cache row that it
 * is stored in, length of its source. Per input: index of its last token. rows [tokens, most] and source_rows [tokens, most_source]: the
 * cache rows that a token sees, of its sequence and of its source. */
typedef struct pass_table {
    int64_t tokens, inputs, most, most_source;
    int64_t ids, positions, counts, stored, sources, last, rows, source_rows, all; /* offset of each table, and their sum */
} pass_table;

/* If a step may be a launch graph, `rows` gets columns for up to 63 more tokens. Later steps then have the same layout and need no new
 * recording. */
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
        const clf_decode_sequence *s = &batch->sequences[inputs[i].sequence];
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
                                   .source_rows = &source_rows,
                                   .source_counts = &sources,
                                   .source_keys = at->most_source,
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

/* Everything that decides a step's launches and may change during the life of a batch: the key of a recording. */
typedef struct step_key {
    pass_table table;
    const clf_buffer *values, *logits;
    int64_t logits_offset;
    clf_arena_mark top; /* where temporary memory begins */
    uint64_t cache_moves;
} step_key;

/* Runs a step, as a launch graph if the device supports that and gains from it with this number of tokens. */
static clf_status step(clf_decode_batch *batch, const pass_table *table, const clf_view *logits)
{
    const step_key key = {*table, batch->packer.buffer, logits->buffer, logits->offset, clfi_arena_top(batch->context), batch->cache.moves};
    const clf_context *context = batch->context;
    const bool is_worth_it = context->graphs == CLFI_GRAPHS_ALWAYS || table->tokens <= context->device.caps.graph_rows;
    clf_launch_graph *graph = !is_worth_it ? NULL : table->tokens == 1 ? batch->step : batch->batch_step;
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
        clf_decode_sequence *s = &batch->sequences[inputs[i].sequence];
        if (st == CLF_OK)
            s->length += inputs[i].count;
        else
            clfi_decode_give_back(batch, s->rows + s->length, inputs[i].count);
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
    CLF_TRY(lay_out(batch, &(pass_size){.inputs = tokens, .tokens = tokens, .most = longest}, &table));
    CLF_TRY(clfi_packer_host(&batch->packer, (size_t)table.all, &host));
    CLF_TRY(clfi_grow(&batch->users, &batch->user_capacity, (size_t)rows, sizeof *batch->users, "cache rows"));
    CLF_TRY(clfi_grow(&batch->free_rows, &batch->free_capacity, (size_t)rows, sizeof *batch->free_rows, "cache rows"));
    return clfi_kv_cache_reserve(&batch->cache, rows);
}

clf_status clfi_decode_hold(clf_decode_batch *batch, int64_t rows, size_t tokens, size_t longest)
{
    CLF_TRY(clfi_decode_reserve(batch, rows, tokens, longest));
    return batch->cache.rows ? CLF_OK : clfi_kv_cache_touch(&batch->cache);
}
