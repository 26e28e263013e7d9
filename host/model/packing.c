/* SPDX-License-Identifier: MIT */
/* Packs batches of tokens and sends them, and values that go with them, to the device. */
#include "model/packing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

clf_packer clfi_packer(clf_context *context)
{
    return (clf_packer){.context = context};
}

void clfi_packer_clear(clf_packer *packer)
{
    clfi_attention_batch_destroy(packer->attention);
    clfi_buffer_release(packer->buffer);
    free(packer->host);
    *packer = (clf_packer){.context = packer->context};
}

static clf_status reserve(clf_packer *packer, size_t elements)
{
    if (elements <= packer->capacity)
        return CLF_OK;
    clf_buffer *buffer;
    int32_t *host;
    const size_t capacity = elements + elements / 2;
    CLF_TRY(clfi_buffer_create(packer->context, capacity * sizeof *host, &buffer));
    const clf_status st = clfi_alloc(capacity, sizeof *host, "token ids", &host);
    if (st != CLF_OK) {
        clfi_buffer_release(buffer);
        return st;
    }
    clfi_buffer_release(packer->buffer); /* OpenCL keeps it until the kernels have run */
    free(packer->host);
    packer->buffer = buffer;
    packer->host = host;
    packer->capacity = capacity;
    return CLF_OK;
}

static clf_status check_offsets(const char *what, const clf_embedding_config *embedding, const int32_t *offsets, size_t sequences)
{
    for (size_t i = 0; i < sequences; i++) {
        if (offsets[i + 1] < offsets[i])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s %zu: offsets fall from %d to %d", what, i, offsets[i], offsets[i + 1]);
        if (offsets[i + 1] - offsets[i] > embedding->max_positions)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s %zu: %d tokens, the model has %lld positions", what, i, offsets[i + 1] - offsets[i],
                     (long long)embedding->max_positions);
    }
    return CLF_OK;
}

clf_status clfi_check_ids(const char *what, const char *kind, const int32_t *ids, int64_t count, int64_t limit)
{
    for (int64_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= limit)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s%s%s %d at %lld is outside 0..%lld", what, *what ? ": " : "", kind, ids[i], (long long)i,
                     (long long)limit - 1);
    return CLF_OK;
}

/* Sends packer->host, which holds [ids, types, positions, offsets], to the device. */
static clf_status upload(clf_packer *packer, int64_t tokens, int64_t offsets, clf_token_batch *out)
{
    CLF_TRY(clfi_buffer_write(packer->buffer, 0, packer->host, (size_t)(3 * tokens + offsets) * sizeof *packer->host));
    *out = (clf_token_batch){.sequences = (int32_t)(offsets ? offsets - 1 : 0),
                             .tokens = (int32_t)tokens,
                             .ids = clfi_view_dense(packer->buffer, CLF_I32, 0, 1, &tokens),
                             .type_ids = clfi_view_dense(packer->buffer, CLF_I32, tokens, 1, &tokens),
                             .positions = clfi_view_dense(packer->buffer, CLF_I32, 2 * tokens, 1, &tokens),
                             .offsets = clfi_view_dense(packer->buffer, CLF_I32, 3 * tokens, 1, &offsets),
                             .attention = packer->attention};
    return CLF_OK;
}

/* Sets the position of each token: its index in the sequence, or with skips_padding 0 for padding and 1, 2, ... for the others. */
static void set_positions(const clf_embedding_config *embedding, const int32_t *ids, int32_t count, int32_t *positions)
{
    int32_t last = 0;
    for (int32_t i = 0; i < count; i++)
        positions[i] = !embedding->skips_padding ? i : ids[i] == embedding->padding ? 0 : ++last;
}

clf_status clfi_pack_sequences(clf_packer *packer, const char *what, const clf_embedding_config *embedding, const int32_t *ids,
                               const int32_t *type_ids, const int32_t *offsets, size_t sequences, clf_token_batch *out)
{
    CLF_TRY(check_offsets(what, embedding, offsets, sequences));
    const int32_t begin = offsets[0];
    const size_t tokens = (size_t)(offsets[sequences] - begin);
    CLF_TRY(clfi_check_ids(what, "token", ids + begin, (int64_t)tokens, embedding->vocabulary));
    if (type_ids)
        CLF_TRY(clfi_check_ids(what, "token type", type_ids + begin, (int64_t)tokens, embedding->types ? embedding->types : 1));
    CLF_TRY(reserve(packer, 3 * tokens + sequences + 1));
    int32_t *host_types = packer->host + tokens, *host_positions = host_types + tokens, *host_offsets = host_positions + tokens;
    memcpy(packer->host, ids + begin, tokens * sizeof *ids);
    if (type_ids)
        memcpy(host_types, type_ids + begin, tokens * sizeof *type_ids);
    else
        memset(host_types, 0, tokens * sizeof *host_types);
    for (size_t i = 0; i <= sequences; i++)
        host_offsets[i] = offsets[i] - begin;
    for (size_t i = 0; i < sequences; i++)
        set_positions(embedding, packer->host + host_offsets[i], host_offsets[i + 1] - host_offsets[i], host_positions + host_offsets[i]);
    if (!packer->attention)
        CLF_TRY(clfi_attention_batch_create(packer->context, &packer->attention));
    CLF_TRY(clfi_attention_batch_set(packer->attention, (int32_t)sequences, host_offsets, NULL));
    return upload(packer, (int64_t)tokens, (int64_t)sequences + 1, out);
}

clf_status clfi_pack_even(clf_packer *packer, const char *what, const clf_embedding_config *embedding, const int32_t *ids, int64_t count,
                          int64_t apart, int64_t length, clf_token_batch *out)
{
    char code[64];
    if (length > embedding->max_positions && embedding->positions != CLF_POSITIONS_NONE)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: %s: %lld tokens, there are %lld positions", what, (long long)length,
                 (long long)embedding->max_positions);
    if (count > INT32_MAX)
        CLF_FAIL(CLF_UNSUPPORTED, "E_LIMIT: %s: %lld tokens", what, (long long)count);
    snprintf(code, sizeof code, "E_VALUE: %s", what);
    CLF_TRY(clfi_check_ids(code, "token", ids, count, embedding->vocabulary));
    CLF_TRY(reserve(packer, 3 * (size_t)count));
    int32_t *types = packer->host + count, *positions = types + count;
    memcpy(packer->host, ids, (size_t)count * sizeof *ids);
    memset(types, 0, (size_t)count * sizeof *types);
    for (int64_t i = 0; i < count; i++)
        positions[i] = (int32_t)(i / apart % length);
    return upload(packer, count, 0, out);
}

clf_status clfi_packer_host(clf_packer *packer, size_t count, int32_t **out)
{
    CLF_TRY(reserve(packer, count));
    *out = packer->host;
    return CLF_OK;
}

clf_status clfi_packer_send(clf_packer *packer, size_t count)
{
    return clfi_buffer_write(packer->buffer, 0, packer->host, count * sizeof *packer->host);
}

typedef struct by_length {
    clf_length_of length;
    const void *user;
} by_length;

static int compare(const void *a, const void *b, void *context)
{
    const by_length *by = context;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const size_t length_x = by->length(by->user, x), length_y = by->length(by->user, y);
    if (length_x != length_y)
        return length_x < length_y ? 1 : -1;
    return x < y ? -1 : x > y;
}

clf_status clfi_order_by_length(size_t count, clf_length_of length, const void *user, size_t **out_order)
{
    CLF_TRY(clfi_alloc(count, sizeof **out_order, "order of a batch", out_order));
    for (size_t i = 0; i < count; i++)
        (*out_order)[i] = i;
    qsort_r(*out_order, count, sizeof **out_order, compare, &(by_length){length, user});
    return CLF_OK;
}

/* On CPUs, the activations of a few thousand tokens exceed the caches. GPUs need enough rows to be busy. */
size_t clfi_batch_tokens(const clf_context *context)
{
    enum { OF_CPUS = 1024, OF_GPUS = 16384 };
    return context->device.caps.is_cpu ? OF_CPUS : OF_GPUS;
}

enum { SMALL_TRIALS = 128, TRIAL_STEP = 64 };

size_t clfi_trial_count(size_t most)
{
    return most <= SMALL_TRIALS ? most : SMALL_TRIALS + (most - SMALL_TRIALS + TRIAL_STEP - 1) / TRIAL_STEP;
}

size_t clfi_trial_rows(size_t index, size_t most)
{
    const size_t rows = index < SMALL_TRIALS ? index + 1 : SMALL_TRIALS + (index - SMALL_TRIALS + 1) * TRIAL_STEP;
    return rows < most ? rows : most;
}

size_t clfi_next_window(const size_t *order, size_t first, size_t count, size_t limit, clf_length_of length, const void *user)
{
    size_t taken = 0, sum = 0;
    while (first + taken < count) {
        const size_t one = length(user, order[first + taken]);
        if (taken > 0 && (one > limit || sum > limit - one))
            break;
        sum += one;
        taken++;
    }
    return taken;
}
