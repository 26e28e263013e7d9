/* SPDX-License-Identifier: MIT */
/* Cached decoding of sequences of any lengths: tables of cache rows with counts of their users on the host, one upload per pass. */
#include "model/decode_batch.h"

#include <string.h>

#include "base/alloc.h"
#include "op/embedding.h"

typedef struct sequence {
    bool is_open;
    int32_t length;
    int32_t *rows; /* cache row of each token */
    size_t capacity;
    bool is_given; /* has an input in the pass at hand */
} sequence;

struct clf_decode_batch {
    clf_context *context; /* retained */
    const clf_network *network; /* borrowed */
    clf_kv_cache cache;   /* rows: all that were ever taken */
    int32_t *users;       /* of each of these rows: sequences */
    size_t user_capacity;
    int32_t *free_rows;   /* those without a user */
    size_t free_count, free_capacity;
    sequence *sequences;
    size_t count, capacity;
    clf_packer packer;
};

clf_status clfi_decode_create(clf_context *context, const clf_network *network, clf_decode_batch **out)
{
    enum { FIRST_ROWS = 256 };
    clf_decode_batch *batch;
    if (!network->generator || !network->target.table.count || network->decoder.layer_count == 0 || network->decoder.config.has_source)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: expected a network with embedding and generator whose decoder has no source attention");
    CLF_TRY(clfi_alloc(1, sizeof *batch, "decoding", &batch));
    batch->context = context;
    batch->network = network;
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

clf_status clfi_decode_open(clf_decode_batch *batch, int32_t *out_sequence)
{
    size_t i = 0;
    while (i < batch->count && batch->sequences[i].is_open)
        i++;
    if (i == batch->count) {
        if (i == INT32_MAX)
            CLF_FAIL(CLF_UNSUPPORTED, "decoding: %zu sequences", i);
        CLF_TRY(clfi_grow(&batch->sequences, &batch->capacity, i + 1, sizeof *batch->sequences, "sequences"));
        batch->sequences[batch->count++] = (sequence){.rows = NULL};
    }
    batch->sequences[i].is_open = true;
    batch->sequences[i].length = 0;
    *out_sequence = (int32_t)i;
    return CLF_OK;
}

clf_status clfi_decode_fork(clf_decode_batch *batch, int32_t number, int32_t *out_sequence)
{
    sequence *from, *to;
    int32_t copy;
    CLF_TRY(get(batch, number, &from));
    CLF_TRY(clfi_decode_open(batch, &copy));
    from = &batch->sequences[number]; /* the list may have moved */
    to = &batch->sequences[copy];
    const clf_status st = clfi_grow(&to->rows, &to->capacity, (size_t)from->length, sizeof *to->rows, "cache rows");
    if (st != CLF_OK) {
        to->is_open = false;
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
    batch->sequences[number].is_open = false;
    return CLF_OK;
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

/* [ids, positions, counts, cache rows] of the tokens, the place of each input's last token, and the table of what each token sees. */
static clf_status upload(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, size_t tokens, size_t most)
{
    size_t table, all;
    int32_t *ids;
    if (!clfi_mul_size(tokens, most, &table) || !clfi_add_size(table, 4 * tokens + count, &all) || tokens > INT32_MAX)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "E_OVERFLOW: decoding %zu tokens at once", tokens);
    CLF_TRY(clfi_packer_host(&batch->packer, all, &ids));
    int32_t *positions = ids + tokens, *counts = positions + tokens, *stored = counts + tokens, *last = stored + tokens,
            *rows = last + count;
    memset(rows, 0, table * sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const sequence *s = &batch->sequences[inputs[i].sequence];
        for (int32_t t = 0; t < inputs[i].count; t++, n++) {
            const int32_t position = s->length + t;
            ids[n] = inputs[i].tokens[t];
            positions[n] = position;
            counts[n] = position + 1;
            stored[n] = s->rows[position];
            memcpy(rows + n * most, s->rows, (size_t)(position + 1) * sizeof *rows);
        }
        last[i] = (int32_t)n - 1;
    }
    return clfi_packer_send(&batch->packer, all);
}

static clf_status forward(clf_decode_batch *batch, int64_t count, int64_t tokens, int64_t most, bool is_all, const clf_view *logits)
{
    clf_context *context = batch->context;
    const clf_network *network = batch->network;
    const int64_t width = network->config.decoder.width;
    clf_buffer *values = batch->packer.buffer;
    const clf_view ids = clfi_view_dense(values, CLF_I32, 0, 1, &tokens), positions = clfi_view_dense(values, CLF_I32, tokens, 1, &tokens);
    const clf_view counts = clfi_view_dense(values, CLF_I32, 2 * tokens, 1, &tokens);
    const clf_view stored = clfi_view_dense(values, CLF_I32, 3 * tokens, 1, &tokens);
    const clf_view last = clfi_view_dense(values, CLF_I32, 4 * tokens, 1, &count);
    const clf_view rows = clfi_view_dense(values, CLF_I32, 4 * tokens + count, 2, (int64_t[]){tokens, most});
    const clf_decoder_step step = {.cache = &batch->cache, .rows = &rows, .keys = most, .counts = &counts, .stored = &stored,
                                   .positions = &positions};
    clf_view x, features;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){tokens, width}, &x));
    CLF_TRY(clfi_network_embed(context, &network->target, &ids, &positions, NULL, &x));
    CLF_TRY(clfi_decoder_step(context, &network->decoder, &step, &x));
    if (is_all || count == tokens)
        return clfi_network_generate(context, network, &x, logits);
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){count, width}, &features));
    CLF_TRY(clfi_embedding_sum(context, &(clf_embedding_term){&x, &last, 1}, 1, 1.0f, &features)); /* the last tokens' rows */
    return clfi_network_generate(context, network, &features, logits);
}

static clf_status run(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, bool is_all, clf_view *logits)
{
    size_t tokens, most, taken = 0;
    clf_status st = CLF_OK;
    CLF_TRY(check_inputs(batch, inputs, count, &tokens, &most));
    const int64_t dim[2] = {(int64_t)(is_all ? tokens : count), batch->network->config.target.vocabulary};
    CLF_TRY(clfi_view_temporary(batch->context, CLF_F32, 2, dim, logits));
    if (count == 0)
        return CLF_OK;
    const clf_arena_mark mark = clfi_arena_top(batch->context);
    for (; st == CLF_OK && taken < count; taken += st == CLF_OK)
        st = take_rows(batch, &batch->sequences[inputs[taken].sequence], inputs[taken].count);
    if (st == CLF_OK)
        st = upload(batch, inputs, count, tokens, most);
    if (st == CLF_OK)
        st = forward(batch, (int64_t)count, (int64_t)tokens, (int64_t)most, is_all, logits);
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
    size_t table, all;
    int32_t *host;
    if (!clfi_mul_size(tokens, longest, &table) || !clfi_add_size(table, 5 * tokens, &all))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "E_OVERFLOW: decoding %zu tokens at once", tokens);
    CLF_TRY(clfi_packer_host(&batch->packer, all, &host));
    CLF_TRY(clfi_grow(&batch->users, &batch->user_capacity, (size_t)rows, sizeof *batch->users, "cache rows"));
    CLF_TRY(clfi_grow(&batch->free_rows, &batch->free_capacity, (size_t)rows, sizeof *batch->free_rows, "cache rows"));
    return clfi_kv_cache_reserve(&batch->cache, rows);
}
