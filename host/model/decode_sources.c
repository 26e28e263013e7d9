/* SPDX-License-Identifier: MIT */
/* Gives the sequences of a decode batch their sources: encodes these together, and stores their keys and values in rows of the cache. */
#include <string.h>

#include "base/alloc.h"
#include "model/decode_batch_parts.h"
#include "nn/decoder.h"

static clf_status check_source(const clf_decode_batch *batch, const clf_decode_input *inputs, size_t index)
{
    const clf_decode_input *input = &inputs[index];
    clf_decode_sequence *s;
    CLF_TRY(clfi_decode_find(batch, input->sequence, &s));
    if (!batch->network->decoder.config.has_source)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "source %zu: expected none, since the decoder has no source attention", index);
    bool has_source = s->has_source;
    for (size_t i = 0; i < index; i++)
        has_source |= inputs[i].sequence == input->sequence;
    if (has_source || input->count < 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "source %zu: %s", index,
                 has_source ? "its sequence has one already" : "expected a number of tokens from 0");
    return CLF_OK;
}

/* Joins the sources to ids and offsets of clfi_pack_sequences, in one allocation: *out_ids, which the caller frees. */
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

/* Stores keys and values of the encoder's outputs in these cache rows. */
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
        clf_decode_sequence *s = &batch->sequences[inputs[i].sequence];
        st = clfi_alloc((size_t)inputs[i].count, sizeof *s->source_rows, "cache rows", &s->source_rows);
        if (st == CLF_OK) {
            memcpy(s->source_rows, rows, (size_t)inputs[i].count * sizeof *rows);
            s->source_length = inputs[i].count;
            s->has_source = true;
        }
    }
    for (size_t i = 0; st != CLF_OK && i < count; i++) {
        clf_decode_sequence *s = &batch->sequences[inputs[i].sequence];
        free(s->source_rows);
        s->source_rows = NULL;
        s->source_length = 0;
        s->has_source = false;
    }
    return st;
}

/* Encodes sources in one pass and gives them to their sequences. */
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
        CLF_GOTO(clfi_decode_take_rows(batch, rows, offsets[count]));
        has_rows = true;
        CLF_GOTO(store_sources(batch, &x, rows));
    }
    CLF_GOTO(give_rows(batch, inputs, count, rows));
    has_rows = false;
done:
    if (has_rows)
        clfi_decode_give_back(batch, rows, offsets[count]);
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

/* Opens a sequence for each source; clfi_decode_open_on forks it. */
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
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sources: expected none, since the decoder has no source attention");
    if (count >= INT32_MAX || offsets[0] != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "decoding: sources: expected offsets from 0, found %zu sources from %d", count, offsets[0]);
    clfi_decode_drop_all(batch);
    CLF_TRY(clfi_grow(&batch->held, &batch->held_capacity, count, sizeof *batch->held, "sources"));
    CLF_TRY(clfi_alloc(count, sizeof *inputs, "sources", &inputs));
    const clf_status st = hold_sources(batch, ids, offsets, inputs, count);
    free(inputs);
    if (st != CLF_OK)
        clfi_decode_drop_all(batch);
    return st;
}
