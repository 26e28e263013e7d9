/* SPDX-License-Identifier: MIT */
/* Queues the items of a row packer, packs items of similar length into passes and hands the result rows to the caller's sink. */
#include "model/row_packer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

enum { MOST_TOKENS = 1 << 28 }; /* of a pass, because token offsets are int32 */

typedef struct waiting {
    size_t tag;
    int32_t *ids; /* [2][count]: ids, then types; NULL: dropped, or its pass has begun */
    size_t count;
} waiting;

struct clf_row_packer {
    clf_session *session;
    clf_row_packer_params params;
    size_t limit; /* most tokens of a pass */
    bool has_types;
    waiting *items; /* [item_count] in order of arrival; the first `round` belong to the current round */
    size_t item_count, item_capacity;
    size_t round, next; /* order[next .. round): items of the round whose pass has not begun */
    size_t *order;
    size_t dropped; /* dropped items whose pass has not begun */
    clf_encoding encoding;
    clf_str prompted;
    clf_embed_stats stats;
};

static clf_status make_packer(clf_session *session, const clf_row_packer_params *params, clf_row_packer **out)
{
    const clf_model *model = session->model;
    clf_row_packer *packer;
    if (params->max_tokens > (size_t)model->info.max_positions)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: max_tokens %zu, the model has %lld positions", params->pass->what, params->max_tokens,
                 (long long)model->info.max_positions);
    CLF_TRY(clfi_alloc(1, sizeof *packer, "packer", &packer));
    *packer = (clf_row_packer){.session = session, .params = *params, .encoding = CLF_ENCODING_INIT, .prompted = CLF_STR_INIT};
    packer->limit = params->batch_tokens ? params->batch_tokens : clfi_batch_tokens(session->context);
    packer->limit = packer->limit < MOST_TOKENS ? packer->limit : MOST_TOKENS;
    packer->has_types = model->network->config.source.types > 1 &&
                        !model->sentence.config.lacks_types; /* the tokenizer may return types that the network lacks */
    *out = packer;
    return CLF_OK;
}

clf_status clfi_row_packer_create(clf_session *session, const clf_row_packer_params *params, clf_row_packer **out)
{
    const clf_status st = make_packer(session, params, out);
    if (st != CLF_OK)
        free(params->owned);
    return st;
}

void clfi_row_packer_destroy(clf_row_packer *packer)
{
    if (!packer)
        return;
    for (size_t i = 0; i < packer->item_count; i++)
        free(packer->items[i].ids);
    free(packer->items);
    free(packer->order);
    free(packer->params.owned);
    clfi_encoding_free(&packer->encoding);
    clfi_str_free(&packer->prompted);
    free(packer);
}

/* ---- Adding and dropping items ---- */

/* types NULL: all tokens have type 0. */
static clf_status append(clf_row_packer *packer, size_t tag, const int32_t *ids, const int32_t *types, size_t count)
{
    waiting item = {.tag = tag, .count = count};
    CLF_TRY(clfi_grow(&packer->items, &packer->item_capacity, packer->item_count + 1, sizeof *packer->items, "texts"));
    CLF_TRY(clfi_alloc(2 * count, sizeof *item.ids, "token ids", &item.ids));
    if (count)
        memcpy(item.ids, ids, count * sizeof *ids);
    if (count && types)
        memcpy(item.ids + count, types, count * sizeof *types);
    packer->items[packer->item_count++] = item;
    packer->stats.texts++;
    packer->stats.tokens += count;
    return CLF_OK;
}

static clf_status add_tokens(clf_row_packer *packer, size_t tag, const clf_tokens *tokens)
{
    const clf_embedding_config *config = &packer->session->model->network->config.source;
    const size_t most = packer->params.max_tokens ? packer->params.max_tokens : (size_t)config->max_positions;
    if (tokens->count && !tokens->ids)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "token ids are NULL");
    if (tokens->count > most)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%zu tokens: expected at most %zu", tokens->count, most);
    CLF_TRY(clfi_check_ids("", "token", tokens->ids, (int64_t)tokens->count, config->vocabulary));
    if (tokens->type_ids)
        CLF_TRY(clfi_check_ids("", "token type", tokens->type_ids, (int64_t)tokens->count, config->types ? config->types : 1));
    return append(packer, tag, tokens->ids, tokens->type_ids, tokens->count);
}

clf_status clfi_row_packer_add(clf_row_packer *packer, const clf_row_item *item)
{
    const clf_model *model = packer->session->model;
    const clf_row_packer_params *params = &packer->params;
    const clf_encode_options options = {.add_special_tokens = true,
                                        .max_tokens = params->max_tokens ? params->max_tokens : (size_t)model->info.max_tokens};
    if (item->tokens)
        return add_tokens(packer, item->tag, item->tokens);
    clf_text text = item->texts[0];
    const clf_text pair = item->parts > 1 ? item->texts[1] : (clf_text){NULL, 0};
    if ((!text.data && text.size) || (!pair.data && pair.size))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "data is NULL");
    if (params->prompt && *params->prompt) {
        clfi_str_clear(&packer->prompted);
        CLF_TRY(clfi_str_append_text(&packer->prompted, params->prompt));
        CLF_TRY(clfi_str_append(&packer->prompted, text.data, text.size));
        text = (clf_text){clfi_str_text(&packer->prompted), packer->prompted.length};
    }
    clf_encoding *encoding = &packer->encoding;
    CLF_TRY(clfi_tokenizer_encode(model->tokenizer, text.data, text.size, pair.data, pair.size, &options, encoding));
    CLF_TRY(append(packer, item->tag, encoding->ids, packer->has_types ? encoding->type_ids : NULL, encoding->length));
    packer->stats.truncated += encoding->truncated != 0;
    return CLF_OK;
}

static void drop_item(clf_row_packer *packer, waiting *item)
{
    packer->dropped += item->ids != NULL;
    free(item->ids);
    item->ids = NULL;
}

void clfi_row_packer_drop(clf_row_packer *packer, size_t tag)
{
    for (size_t i = packer->next; i < packer->round; i++)
        if (packer->items[packer->order[i]].tag == tag)
            drop_item(packer, &packer->items[packer->order[i]]);
    for (size_t i = packer->round; i < packer->item_count; i++)
        if (packer->items[i].tag == tag)
            drop_item(packer, &packer->items[i]);
}

size_t clfi_row_packer_load(const clf_row_packer *packer)
{
    return packer->item_count - packer->next - packer->dropped;
}

/* ---- Rounds and passes ---- */

/* Implements clf_length_of. */
static size_t length_of(const void *user, size_t item)
{
    const clf_row_packer *packer = user;
    return packer->items[item].count;
}

static void end_round(clf_row_packer *packer)
{
    for (size_t i = 0; i < packer->round; i++)
        free(packer->items[i].ids);
    packer->item_count -= packer->round;
    if (packer->item_count)
        memmove(packer->items, packer->items + packer->round, packer->item_count * sizeof *packer->items);
    free(packer->order);
    packer->order = NULL;
    packer->round = packer->next = 0;
}

static clf_status begin_round(clf_row_packer *packer)
{
    const clf_row_packer_params *params = &packer->params;
    size_t count = 0, tokens = 0;
    end_round(packer);
    if (packer->item_count == 0 && params->supply)
        CLF_TRY(params->supply(params->user, packer));
    for (; count < packer->item_count && (params->round_tokens == 0 || count == 0 || tokens < params->round_tokens); count++)
        tokens += packer->items[count].count;
    CLF_TRY(clfi_order_by_length(count, length_of, packer, &packer->order));
    packer->round = count;
    return CLF_OK;
}

/* The input and output of one pass. */
typedef struct batch {
    int32_t *ids, *types, *offsets; /* [tokens], [tokens], [count + 1] */
    size_t *tags;                   /* [count] */
    size_t count;
    float *rows; /* [count, width] */
    bool *is_corrupt;
} batch;

static void batch_free(batch *b)
{
    free(b->ids);
    free(b->offsets);
    free(b->tags);
    free(b->rows);
    free(b->is_corrupt);
}

/* Moves the items order[next .. next + taken) into *out and skips dropped ones. */
static clf_status take_items(clf_row_packer *packer, size_t taken, batch *out)
{
    size_t tokens = 0;
    for (size_t k = 0; k < taken; k++)
        tokens += packer->items[packer->order[packer->next + k]].count;
    CLF_TRY(clfi_alloc(2 * tokens, sizeof *out->ids, "batch", &out->ids));
    CLF_TRY(clfi_alloc(taken + 1, sizeof *out->offsets, "batch", &out->offsets));
    CLF_TRY(clfi_alloc(taken, sizeof *out->tags, "batch", &out->tags));
    CLF_TRY(clfi_alloc(taken * packer->params.pass->width, sizeof *out->rows, "batch", &out->rows));
    CLF_TRY(clfi_alloc(taken, sizeof *out->is_corrupt, "batch", &out->is_corrupt));
    out->types = out->ids + tokens;
    for (size_t k = 0; k < taken; k++) {
        waiting *item = &packer->items[packer->order[packer->next + k]];
        packer->dropped -= item->ids == NULL;
        if (!item->ids)
            continue;
        const int32_t at = out->offsets[out->count];
        memcpy(out->ids + at, item->ids, item->count * sizeof *item->ids);
        memcpy(out->types + at, item->ids + item->count, item->count * sizeof *item->ids);
        out->tags[out->count++] = item->tag;
        out->offsets[out->count] = at + (int32_t)item->count;
        free(item->ids);
        item->ids = NULL;
    }
    packer->next += taken;
    return CLF_OK;
}

static clf_status give_rows(const clf_row_packer *packer, const batch *b)
{
    const clf_row_packer_params *params = &packer->params;
    for (size_t i = 0; i < b->count; i++) {
        const float *row = b->rows + i * params->pass->width;
        const clf_status st = b->is_corrupt[i] ? clfi_row_fail(params->pass, row) : CLF_OK;
        CLF_TRY(params->sink(params->user, b->tags[i], st == CLF_OK ? row : NULL, st));
    }
    return CLF_OK;
}

clf_status clfi_row_packer_warm(clf_row_packer *packer)
{
    return clfi_row_pass_warm(packer->session, packer->params.pass, packer->limit);
}

clf_status clfi_row_packer_step(clf_row_packer *packer)
{
    batch b = {.count = 0};
    clf_status st;
    if (packer->next == packer->round)
        CLF_TRY(begin_round(packer));
    if (packer->round == 0)
        return CLF_OK;
    CLF_GOTO(take_items(packer, clfi_next_window(packer->order, packer->next, packer->round, packer->limit, length_of, packer), &b));
    if (b.count == 0)
        goto done; /* all taken items were dropped */
    CLF_GOTO(clfi_row_pass_run(packer->session, packer->params.pass, &(clf_sequences){b.ids, b.types, b.offsets, b.count}, b.rows,
                               b.is_corrupt));
    packer->stats.batches++;
    CLF_GOTO(give_rows(packer, &b));
done:
    batch_free(&b);
    return st;
}

clf_embed_stats clfi_row_packer_stats(const clf_row_packer *packer)
{
    return packer->stats;
}
