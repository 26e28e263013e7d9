/* SPDX-License-Identifier: MIT */
/* Keeps the sequences of a decode batch: which cache rows each has, and how many sequences use a row. */
#include <string.h>

#include "base/alloc.h"
#include "model/decode_batch_parts.h"

/* On a GPU a launch graph saves some microseconds a kernel, but fewer work-items read the weights at once. With graphs an H100 decodes a
 * model of 50 MB a layer 1.3 times as fast as without, and one of 154 MB 0.85 times. */
static bool wants_graphs(const clf_context *context, const clf_network *network)
{
    enum { MOST_LAYER_BYTES = 96 << 20 };
    return context->device.caps.graph_group <= 1 || context->graphs == CLFI_GRAPHS_ALWAYS ||
           network->file_bytes / (uint64_t)network->decoder.layer_count <= MOST_LAYER_BYTES;
}

/* Makes the memory on the device. */
static clf_status make_memory(clf_decode_batch *batch)
{
    enum { FIRST_ROWS = 256, MOST_PROGRAMS = 2 };
    clf_context *context = batch->context;
    batch->packer = clfi_packer(context);
    CLF_TRY(clfi_kv_cache_init(context, &batch->network->decoder, batch->dtype, FIRST_ROWS, &batch->cache));
    if (!wants_graphs(context, batch->network))
        return CLF_OK;
    CLF_TRY(clfi_graph_create(context, MOST_PROGRAMS, &batch->step));
    return clfi_graph_create(context, MOST_PROGRAMS, &batch->batch_step);
}

static void clear_memory(clf_decode_batch *batch)
{
    clfi_graph_destroy(batch->step);
    clfi_graph_destroy(batch->batch_step);
    batch->step = batch->batch_step = NULL;
    clfi_kv_cache_clear(&batch->cache);
    clfi_packer_clear(&batch->packer);
}

clf_status clfi_decode_create(clf_context *context, const clf_network *network, clf_dtype cache, clf_decode_batch **out)
{
    clf_decode_batch *batch;
    if (!network->generator || !network->target.table.count || network->decoder.layer_count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: expected a network with a decoder, its embedding and a generator");
    if (network->decoder.config.has_source && !network->source.table.count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: the decoder attends to sources, expected an embedding of theirs");
    CLF_TRY(clfi_alloc(1, sizeof *batch, "decoding", &batch));
    batch->context = context;
    batch->network = network;
    batch->next_free = -1;
    batch->dtype = cache;
    clfi_context_retain(context);
    const clf_status st = make_memory(batch);
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
    clear_memory(batch);
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

clf_status clfi_decode_restart(clf_decode_batch *batch)
{
    clear_memory(batch);
    batch->free_count = batch->held_count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        clf_decode_sequence *s = &batch->sequences[i];
        free(s->source_rows);
        s->source_rows = NULL;
        s->length = s->source_length = 0;
        s->has_source = false;
    }
    return make_memory(batch);
}

clf_decode_sequence *clfi_decode_sequence(const clf_decode_batch *batch, int32_t number)
{
    return number >= 0 && (size_t)number < batch->count && batch->sequences[number].is_open ? &batch->sequences[number] : NULL;
}

clf_status clfi_decode_find(const clf_decode_batch *batch, int32_t number, clf_decode_sequence **out)
{
    *out = clfi_decode_sequence(batch, number);
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
        batch->sequences[i] = (clf_decode_sequence){.next_free = -1};
    }
    clf_decode_sequence *s = &batch->sequences[i];
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

void clfi_decode_give_back(clf_decode_batch *batch, const int32_t *rows, int32_t count)
{
    for (int32_t i = count; i-- > 0;) /* so that they are taken again in their order */
        if (--batch->users[rows[i]] == 0)
            batch->free_rows[batch->free_count++] = rows[i];
}

static void close_sequence(clf_decode_batch *batch, int32_t number)
{
    clf_decode_sequence *s = &batch->sequences[number];
    clfi_decode_give_back(batch, s->rows, s->length);
    clfi_decode_give_back(batch, s->source_rows, s->source_length);
    free(s->source_rows);
    s->source_rows = NULL;
    s->length = s->source_length = 0;
    s->is_open = s->has_source = false;
    s->next_free = batch->next_free;
    batch->next_free = number;
}

clf_status clfi_decode_fork(clf_decode_batch *batch, int32_t number, int32_t *out_sequence)
{
    clf_decode_sequence *from, *to;
    int32_t copy;
    CLF_TRY(clfi_decode_find(batch, number, &from));
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
    clf_decode_sequence *s;
    CLF_TRY(clfi_decode_find(batch, number, &s));
    if (length < 0 || length > s->length)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sequence %d has %d tokens, %d are to be kept", number, s->length, length);
    clfi_decode_give_back(batch, s->rows + length, s->length - length);
    s->length = length;
    return CLF_OK;
}

clf_status clfi_decode_drop(clf_decode_batch *batch, int32_t number)
{
    clf_decode_sequence *s;
    CLF_TRY(clfi_decode_find(batch, number, &s));
    close_sequence(batch, number);
    return CLF_OK;
}

void clfi_decode_drop_all(clf_decode_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const clf_decode_sequence *s = &batch->sequences[i];
        if (s->is_open)
            close_sequence(batch, (int32_t)i);
    }
    batch->held_count = 0;
}

bool clfi_decode_lacks_source(const clf_decode_batch *batch, int32_t sequence)
{
    const clf_decode_sequence *s = clfi_decode_sequence(batch, sequence);
    return s && batch->network->decoder.config.has_source && !s->has_source;
}

int32_t clfi_decode_length(const clf_decode_batch *batch, int32_t number)
{
    const clf_decode_sequence *s = clfi_decode_sequence(batch, number);
    return s ? s->length : 0;
}

clf_decode_usage clfi_decode_usage(const clf_decode_batch *batch)
{
    return (clf_decode_usage){batch->cache.rows - (int64_t)batch->free_count, batch->cache.rows};
}

int64_t clfi_decode_rows_beside(const clf_decode_batch *batch, int32_t number, int32_t kept)
{
    const clf_decode_sequence *s = clfi_decode_sequence(batch, number);
    int64_t own = 0;
    for (int32_t i = 0; s && i < s->length; i++)
        own += i < kept || batch->users[s->rows[i]] == 1;
    return clfi_decode_usage(batch).used - own;
}

clf_status clfi_decode_take_rows(clf_decode_batch *batch, int32_t *rows, int32_t count)
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
