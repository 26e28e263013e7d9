/* SPDX-License-Identifier: MIT */
/* Cuts the sequences of a batch into tiles of queries. */
#include "op/attention_batch.h"

#include "base/alloc.h"
#include "op/engines.h"

enum { NARROW_TILE = 16, WIDE_TILE = 32, WIDEST_TILE = 64 };

clf_status clfi_attention_batch_create(clf_context *context, clf_attention_batch **out)
{
    clf_attention_batch *batch;
    CLF_TRY(clfi_alloc(1, sizeof *batch, "attention batch", &batch));
    batch->context = context;
    clfi_context_retain(context);
    *out = batch;
    return CLF_OK;
}

void clfi_attention_batch_destroy(clf_attention_batch *batch)
{
    if (!batch)
        return;
    clfi_buffer_release(batch->buffer);
    free(batch->tiles);
    free(batch->spans);
    clfi_context_release(batch->context);
    free(batch);
}

static clf_status check_span(int32_t index, const clf_attention_span *span)
{
    if (span->q_begin < 0 || span->q_count < 0 || span->k_begin < 0 || span->k_count < 0 || span->q_begin > INT32_MAX - span->q_count ||
        span->k_begin > INT32_MAX - span->k_count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: sequence %d: queries %d + %d, keys %d + %d: expected begins and counts from 0 to 2^31",
                 index, span->q_begin, span->q_count, span->k_begin, span->k_count);
    if (span->diagonal > INT32_MAX - span->q_count - WIDEST_TILE)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: sequence %d: diagonal %d is too large for %d queries", index, span->diagonal,
                 span->q_count);
    return CLF_OK;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Wide tiles read keys less often, but need enough queries to fill them and enough registers to hold them: those of a work-group for
 * engines that share keys, else the vector registers of a CPU. */
static clf_status choose_tile(const clf_context *context, int32_t max_queries, int32_t *out)
{
    const clf_device_caps *caps = &context->device.caps;
    clf_engine_choice forced;
    CLF_TRY(clfi_engine_forced(context, CLF_OP_ATTENTION, &forced));
    const bool is_group = forced.engine ? forced.engine->shares_keys : !caps->is_cpu || caps->short_loops;
    if (max_queries <= NARROW_TILE || (!is_group && caps->vector_width < 16))
        *out = NARROW_TILE;
    else
        *out = is_group && max_queries > WIDE_TILE ? WIDEST_TILE : WIDE_TILE;
    return CLF_OK;
}

static clf_status upload(clf_attention_batch *batch)
{
    const size_t bytes = (size_t)batch->tile_count * sizeof *batch->tiles;
    if (bytes == 0)
        return CLF_OK;
    if (!batch->buffer || batch->buffer->size_bytes < bytes) {
        clfi_buffer_release(batch->buffer);
        batch->buffer = NULL;
        CLF_TRY(clfi_buffer_create(batch->context, batch->tile_capacity * sizeof *batch->tiles, &batch->buffer));
    }
    return clfi_buffer_write(batch->buffer, 0, batch->tiles, bytes);
}

static clf_status measure(clf_attention_batch *batch, int32_t sequences, const clf_attention_span *spans, size_t *out_tiles)
{
    int32_t max_queries = 0, max_keys = 0, q_end = 0, k_end = 0;
    for (int32_t s = 0; s < sequences; s++) {
        CLF_TRY(check_span(s, &spans[s]));
        max_queries = larger(max_queries, spans[s].q_count);
        max_keys = larger(max_keys, spans[s].k_count);
        q_end = larger(q_end, spans[s].q_begin + spans[s].q_count);
        k_end = larger(k_end, spans[s].k_begin + spans[s].k_count);
    }
    size_t tiles = 0;
    int32_t tile;
    CLF_TRY(choose_tile(batch->context, max_queries, &tile));
    for (int32_t s = 0; s < sequences; s++)
        tiles += ((size_t)spans[s].q_count + (size_t)tile - 1) / (size_t)tile;
    if (tiles > INT32_MAX / sizeof *batch->tiles)
        CLF_FAIL(CLF_UNSUPPORTED, "attention: %zu tiles of queries are more than a batch holds", tiles);
    batch->max_keys = max_keys;
    batch->q_end = q_end;
    batch->k_end = k_end;
    batch->tile_queries = tile;
    *out_tiles = tiles;
    return CLF_OK;
}

clf_status clfi_attention_batch_set_spans(clf_attention_batch *batch, int32_t sequences, const clf_attention_span *spans)
{
    size_t tiles = 0;
    batch->sequences = batch->tile_count = 0; /* stays empty after a failure */
    if (sequences < 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: %d sequences", sequences);
    CLF_TRY(measure(batch, sequences, spans, &tiles));
    CLF_TRY(clfi_grow(&batch->tiles, &batch->tile_capacity, tiles, sizeof *batch->tiles, "attention tiles"));
    int32_t count = 0;
    for (int32_t s = 0; s < sequences; s++) {
        const clf_attention_span *span = &spans[s];
        for (int32_t first = 0; first < span->q_count; first += batch->tile_queries) {
            const int32_t left = span->q_count - first;
            batch->tiles[count++] = (clf_attention_tile){
                .q_row = span->q_begin + first,
                .q_count = left < batch->tile_queries ? left : batch->tile_queries,
                .q_index = first,
                .k_begin = span->k_begin,
                .k_count = span->k_count,
                .sequence = s,
                .diagonal = span->diagonal,
            };
        }
    }
    batch->tile_count = count;
    const clf_status st = upload(batch);
    if (st != CLF_OK) {
        batch->tile_count = 0;
        return st;
    }
    batch->sequences = sequences;
    return CLF_OK;
}

clf_status clfi_attention_batch_set(clf_attention_batch *batch, int32_t sequences, const int32_t *q_offsets, const int32_t *k_offsets)
{
    if (!k_offsets)
        k_offsets = q_offsets;
    if (sequences < 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: %d sequences", sequences);
    CLF_TRY(clfi_grow(&batch->spans, &batch->span_capacity, (size_t)sequences, sizeof *batch->spans, "attention spans"));
    for (int32_t s = 0; s < sequences; s++) {
        if (q_offsets[s] < 0 || k_offsets[s] < 0 || q_offsets[s + 1] < q_offsets[s] || k_offsets[s + 1] < k_offsets[s])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: sequence %d: query rows %d to %d, key rows %d to %d: expected rising offsets", s,
                     q_offsets[s], q_offsets[s + 1], k_offsets[s], k_offsets[s + 1]);
        batch->spans[s] =
            (clf_attention_span){q_offsets[s], q_offsets[s + 1] - q_offsets[s], k_offsets[s], k_offsets[s + 1] - k_offsets[s], 0};
    }
    return clfi_attention_batch_set_spans(batch, sequences, batch->spans);
}
