/* SPDX-License-Identifier: MIT */
/* Finds the largest logits of each row on the device, and the sums of exp(scale * (logit - largest)) that samplers need. */
#include "model/choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/exp_sum.h"
#include "op/top_k.h"

clf_choice clfi_choice(clf_context *context)
{
    return (clf_choice){.context = context, .scales = clfi_packer(context)};
}

void clfi_choice_clear(clf_choice *choice)
{
    clfi_packer_clear(&choice->scales);
    free(choice->values);
    free(choice->tokens);
    free(choice->sums);
}

/* A pass's results, on the device. */
typedef struct results {
    clf_view values, tokens, sums;
} results;

/* Sends the rows' scales to the device. */
static clf_status send_scales(clf_choice *choice, const clf_wanted_logits *rows, size_t count, clf_view *out)
{
    int32_t *bits;
    CLF_TRY(clfi_packer_host(&choice->scales, count, &bits));
    for (size_t i = 0; i < count; i++)
        memcpy(&bits[i], &rows[i].scale, sizeof *bits);
    CLF_TRY(clfi_packer_send(&choice->scales, count));
    *out = clfi_view_dense(choice->scales.buffer, CLF_F32, 0, 1, &(int64_t){(int64_t)count});
    return CLF_OK;
}

static clf_status launch(clf_choice *choice, const clf_view *logits, const clf_wanted_logits *rows, size_t count, results *out)
{
    clf_context *context = choice->context;
    const int64_t vocabulary = logits->dim[1], all = (int64_t)count;
    clf_view scales;
    choice->best = 0;
    choice->has_sums = false;
    for (size_t i = 0; i < count; i++) {
        choice->best = rows[i].best > choice->best ? rows[i].best : choice->best;
        choice->has_sums |= rows[i].scale > 0.0f;
    }
    choice->best = (int64_t)choice->best < vocabulary ? choice->best : (size_t)vocabulary;
    if (choice->best == 0)
        return CLF_OK;
    const int64_t dim[2] = {all, (int64_t)choice->best};
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, dim, &out->values));
    CLF_TRY(clfi_view_temporary(context, CLF_I32, 2, dim, &out->tokens));
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 1, &all, &out->sums));
    if (choice->has_sums)
        CLF_TRY(send_scales(choice, rows, count, &scales));
    CLF_TRY(clfi_exp_sum_launch(context, logits, choice->has_sums ? &scales : NULL, &out->sums));
    return clfi_top_k(context, logits, (int)choice->best, &out->values, &out->tokens);
}

clf_status clfi_choice_launch(clf_choice *choice, const clf_view *logits, const clf_wanted_logits *rows, size_t count)
{
    results unread;
    return launch(choice, logits, rows, count, &unread);
}

/* Reads `count` elements of a view, of four bytes each. */
static clf_status read_view(clf_choice *choice, const clf_view *view, size_t count, void *out)
{
    choice->read_bytes += count * sizeof(float);
    return clfi_buffer_read(view->buffer, (size_t)view->offset * sizeof(float), out, count * sizeof(float));
}

clf_status clfi_choice_find(clf_choice *choice, const clf_view *logits, const clf_wanted_logits *rows, size_t count)
{
    results found;
    CLF_TRY(launch(choice, logits, rows, count, &found));
    const size_t all = count * choice->best; /* at most the number of logits, so this cannot wrap */
    if (all == 0)
        return CLF_OK;
    CLF_TRY(clfi_grow(&choice->values, &choice->value_capacity, all, sizeof *choice->values, "logits"));
    CLF_TRY(clfi_grow(&choice->tokens, &choice->token_capacity, all, sizeof *choice->tokens, "tokens"));
    CLF_TRY(clfi_grow(&choice->sums, &choice->sum_capacity, count, sizeof *choice->sums, "logits"));
    CLF_TRY(read_view(choice, &found.values, all, choice->values));
    CLF_TRY(read_view(choice, &found.tokens, all, choice->tokens));
    return read_view(choice, &found.sums, count, choice->sums);
}

clf_best clfi_choice_row_of(const clf_choice *choice, size_t row)
{
    return (clf_best){.logits = choice->values + row * choice->best,
                      .tokens = choice->tokens + row * choice->best,
                      .count = choice->best,
                      .sum = choice->sums[row],
                      .has_sum = choice->has_sums};
}

clf_status clfi_choice_read_row(clf_choice *choice, const clf_view *logits, size_t row, float *out)
{
    clf_view one = *logits;
    one.offset += (int64_t)row * logits->dim[1];
    return read_view(choice, &one, (size_t)logits->dim[1], out);
}
