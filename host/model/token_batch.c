/* SPDX-License-Identifier: MIT */
/* Token ids of packed sequences: checked on the host, then on the device in one transfer. */
#include <string.h>

#include "base/alloc.h"
#include "model/model.h"

static clf_status check_offsets(const clf_model_info *info, const int32_t *offsets, size_t sequences)
{
    if (offsets[0] != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "sequences: offsets[0] is %d, expected 0", offsets[0]);
    for (size_t i = 0; i < sequences; i++) {
        if (offsets[i + 1] < offsets[i])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "sequence %zu: offsets fall from %d to %d", i, offsets[i], offsets[i + 1]);
        if (offsets[i + 1] - offsets[i] > info->max_positions)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "sequence %zu: %d tokens, the model has %lld positions", i, offsets[i + 1] - offsets[i],
                     (long long)info->max_positions);
    }
    return CLF_OK;
}

static clf_status check_ids(const char *what, const int32_t *ids, int32_t count, int64_t limit)
{
    for (int32_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= limit)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: id %d at %d is outside 0..%lld", what, ids[i], i, (long long)limit - 1);
    return CLF_OK;
}

static clf_status reserve(clf_model *model, size_t elements)
{
    if (elements <= model->token_capacity)
        return CLF_OK;
    clf_buffer *buffer;
    int32_t *host;
    const size_t capacity = elements + elements / 2;
    CLF_TRY(clfi_buffer_create(model->context, capacity * sizeof *host, &buffer));
    const clf_status st = clfi_alloc(capacity, sizeof *host, "token ids", &host);
    if (st != CLF_OK) {
        clfi_buffer_release(buffer);
        return st;
    }
    clfi_buffer_release(model->token_buffer);
    free(model->token_host);
    model->token_buffer = buffer;
    model->token_host = host;
    model->token_capacity = capacity;
    return CLF_OK;
}

clf_status clfi_model_set_batch(clf_model *model, const int32_t *ids, const int32_t *type_ids, const int32_t *offsets, size_t sequences,
                                clf_token_batch *out)
{
    if (!offsets || sequences == 0 || sequences >= INT32_MAX || (!ids && offsets[sequences] > 0))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "sequences: ids and offsets must not be NULL, and their number must fit 1..2^31-2");
    CLF_TRY(check_offsets(&model->info, offsets, sequences));
    const int32_t tokens = offsets[sequences];
    CLF_TRY(check_ids("token", ids, tokens, model->info.vocabulary));
    if (type_ids)
        CLF_TRY(check_ids("token type", type_ids, tokens, model->info.type_vocabulary));
    const size_t t = (size_t)tokens, total = 3 * t + sequences + 1;
    CLF_TRY(reserve(model, total));
    int32_t *host_types = model->token_host + t, *host_positions = host_types + t, *host_offsets = host_positions + t;
    memcpy(model->token_host, ids, t * sizeof *ids);
    if (type_ids)
        memcpy(host_types, type_ids, t * sizeof *type_ids);
    else
        memset(host_types, 0, t * sizeof *host_types);
    for (size_t i = 0; i < sequences; i++)
        for (int32_t p = offsets[i]; p < offsets[i + 1]; p++)
            host_positions[p] = p - offsets[i];
    memcpy(host_offsets, offsets, (sequences + 1) * sizeof *offsets);
    CLF_TRY(clfi_buffer_write(model->token_buffer, 0, model->token_host, total * sizeof(int32_t)));
    CLF_TRY(clfi_attention_batch_set(model->attention, (int32_t)sequences, offsets, NULL));

    const int64_t count = tokens, offset_count = (int64_t)sequences + 1;
    out->sequences = (int32_t)sequences;
    out->tokens = tokens;
    out->ids = clfi_view_dense(model->token_buffer, CLF_I32, 0, 1, &count);
    out->type_ids = clfi_view_dense(model->token_buffer, CLF_I32, count, 1, &count);
    out->positions = clfi_view_dense(model->token_buffer, CLF_I32, 2 * count, 1, &count);
    out->offsets = clfi_view_dense(model->token_buffer, CLF_I32, 3 * count, 1, &offset_count);
    out->attention = model->attention;
    return CLF_OK;
}
