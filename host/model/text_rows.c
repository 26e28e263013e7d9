/* SPDX-License-Identifier: MIT */
/* Texts to rows of numbers. */
#include "model/text_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "kernel/row_check.h"
#include "model/finite.h"
#include "model/portable.h"
#include "runtime/profile.h"
#include "runtime/rehearsal.h"

/* Sequences of one pass. */
typedef struct clf_sequences {
    const int32_t *ids, *type_ids, *offsets;
    size_t count;
} clf_sequences;

/* One pass over a batch and the check of its rows, without reading them. */
typedef struct packed_pass {
    clf_session *session;
    const clf_row_pass *pass;
    const clf_token_batch *batch;
    clf_view rows, flagged;
} packed_pass;

static clf_status enqueue(void *user)
{
    const packed_pass *p = user;
    CLF_TRY(p->pass->run(p->session, p->pass->user, p->batch, &p->rows));
    return clfi_row_check_launch(p->session->context, &p->rows, &p->flagged);
}

static clf_status run_packed(clf_session *session, const clf_row_pass *pass, const clf_token_batch *batch, float *out, int32_t *flags)
{
    const int64_t sequences = batch->sequences;
    packed_pass p = {.session = session, .pass = pass, .batch = batch};
    CLF_TRY(clfi_view_temporary(session->context, CLF_F32, 2, (int64_t[]){sequences, (int64_t)pass->width}, &p.rows));
    CLF_TRY(clfi_view_temporary(session->context, CLF_I32, 1, &sequences, &p.flagged));
    if (!session->is_rehearsed)
        CLF_TRY(clfi_rehearse(session->context, enqueue, &p));
    session->is_rehearsed = true;
    CLF_TRY(enqueue(&p));
    CLF_TRY(clfi_buffer_read(p.rows.buffer, (size_t)p.rows.offset * sizeof *out, out, (size_t)sequences * pass->width * sizeof *out));
    return clfi_buffer_read(p.flagged.buffer, (size_t)p.flagged.offset * sizeof *flags, flags, (size_t)sequences * sizeof *flags);
}

static clf_status run_once(clf_session *session, const clf_row_pass *pass, const clf_sequences *s, float *out, int32_t *flags)
{
    clf_token_batch batch;
    CLF_TRY(clfi_session_pack(session, s->ids, s->type_ids, s->offsets, s->count, &batch));
    const clf_arena_mark mark = clfi_arena_top(session->context);
    const clf_status st = run_packed(session, pass, &batch, out, flags);
    clfi_arena_release(session->context, mark);
    return st;
}

/* The first corrupt row; s->count: none. */
static size_t find_corrupt(const clf_row_pass *pass, const clf_sequences *s, const int32_t *flags)
{
    size_t i = 0;
    for (; i < s->count; i++) {
        const bool is_zero = !(flags[i] & CLFI_ROW_NOT_ZERO) && s->offsets[i + 1] > s->offsets[i];
        if ((flags[i] & CLFI_ROW_NOT_FINITE) || (is_zero && !pass->may_be_zero))
            break;
    }
    return i;
}

/* Once more on the portable engines; *failed: a row that is corrupt then too. */
static clf_status run_again(clf_session *session, const clf_row_pass *pass, const clf_sequences *s, float *out, int32_t *flags,
                            size_t *failed)
{
    clf_session *portable;
    clfi_log(session->context, CLF_LOG_ERROR, "%s: a row is not finite or all zero: its batch is computed again on the portable engines",
             pass->what);
    CLF_TRY(clfi_session_portable(session, &portable));
    CLF_TRY(run_once(portable, pass, s, out, flags));
    *failed = find_corrupt(pass, s, flags);
    return CLF_OK;
}

/* *failed: s->count, or a row that is corrupt on every engine. */
static clf_status run_checked(clf_session *session, const clf_row_pass *pass, const clf_sequences *s, float *out, size_t *failed)
{
    int32_t *flags;
    *failed = s->count;
    CLF_TRY(clfi_alloc(s->count, sizeof *flags, "flags of rows", &flags));
    clf_status st = run_once(session, pass, s, out, flags);
    if (st == CLF_OK)
        *failed = find_corrupt(pass, s, flags);
    if (st == CLF_OK && *failed < s->count)
        st = run_again(session, pass, s, out, flags, failed);
    free(flags);
    return st;
}

static clf_status fail_corrupt(const float *row, size_t width)
{
    const size_t c = clfi_find_not_finite(row, width);
    if (c == width)
        CLF_FAIL(CLF_INTERNAL, "the result is all zero");
    CLF_FAIL(CLF_INTERNAL, "the result is not finite: element %zu is %g", c, (double)row[c]);
}

clf_status clfi_rows_of_ids(clf_session *session, const clf_row_pass *pass, const int32_t *ids, const int32_t *type_ids,
                            const int32_t *offsets, size_t sequences, float *out)
{
    const clf_sequences s = {ids, type_ids, offsets, sequences};
    size_t failed;
    CLF_TRY(run_checked(session, pass, &s, out, &failed));
    if (failed == sequences)
        return CLF_OK;
    return clfi_fail_prefix(fail_corrupt(out + failed * pass->width, pass->width), "%s: sequence %zu", pass->what, failed);
}

/* The tokens of all texts one after another, and the texts' order by falling length. */
typedef struct tokenized {
    int32_t *ids, *types;
    size_t count, id_capacity, type_capacity;
    size_t *start; /* [texts + 1] */
    size_t *order;
} tokenized;

static void tokenized_free(tokenized *t)
{
    free(t->ids);
    free(t->types);
    free(t->start);
    free(t->order);
}

static clf_status append(tokenized *t, const clf_encoding *encoding)
{
    const size_t count = t->count + encoding->length;
    CLF_TRY(clfi_grow(&t->ids, &t->id_capacity, count, sizeof *t->ids, "token ids"));
    CLF_TRY(clfi_grow(&t->types, &t->type_capacity, count, sizeof *t->types, "token types"));
    memcpy(t->ids + t->count, encoding->ids, encoding->length * sizeof *t->ids);
    memcpy(t->types + t->count, encoding->type_ids, encoding->length * sizeof *t->types);
    t->count = count;
    return CLF_OK;
}

/* *out_failed: a text that the tokenizer does not take. */
static clf_status tokenize(const clf_model *model, const char *what, const clf_row_texts *texts, size_t max_tokens, clf_embed_stats *stats,
                           tokenized *out, size_t *out_failed)
{
    const clf_encode_options options = {.add_special_tokens = true, .max_tokens = max_tokens};
    const bool has_types = model->network->config.source.types > 1 &&
                           !model->sentence.config.lacks_types; /* a tokenizer may tell pairs apart where the network cannot */
    const size_t prompt_bytes = texts->prompt ? strlen(texts->prompt) : 0;
    clf_encoding encoding = CLF_ENCODING_INIT;
    clf_str prompted = CLF_STR_INIT;
    clf_status st;
    CLF_GOTO(clfi_alloc(texts->count + 1, sizeof *out->start, "token offsets", &out->start));
    for (size_t i = 0; i < texts->count; i++) {
        const clf_text *given = &texts->texts[i * texts->parts];
        clf_text text = given[0], pair = texts->parts > 1 ? given[1] : (clf_text){NULL, 0};
        if ((!text.data && text.size) || (!pair.data && pair.size))
            CLF_GOTO(clfi_fail(CLF_INVALID_ARGUMENT, "%s: texts[%zu]: data is NULL", what, i));
        if (prompt_bytes) {
            clfi_str_clear(&prompted);
            CLF_GOTO(clfi_str_append(&prompted, texts->prompt, prompt_bytes));
            CLF_GOTO(clfi_str_append(&prompted, text.data, text.size));
            text = (clf_text){clfi_str_text(&prompted), prompted.length};
        }
        st = clfi_tokenizer_encode(model->tokenizer, text.data, text.size, pair.data, pair.size, &options, &encoding);
        *out_failed = st == CLF_UNSUPPORTED ? i : *out_failed;
        CLF_GOTO(st);
        for (size_t k = 0; !has_types && k < encoding.length; k++)
            encoding.type_ids[k] = 0;
        CLF_GOTO(append(out, &encoding));
        out->start[i + 1] = out->count;
        stats->truncated += encoding.truncated;
    }
done:
    clfi_encoding_free(&encoding);
    clfi_str_free(&prompted);
    return st;
}

/* A clf_length_of. */
static size_t length_of(const void *user, size_t text)
{
    const tokenized *t = user;
    return t->start[text + 1] - t->start[text];
}

/* Runs order[first ..] up to the token limit; returns how many texts that were. */
static clf_status run_batch(clf_session *session, const clf_row_pass *pass, const tokenized *t, size_t first, size_t count, size_t limit,
                            float *out, clf_embed_stats *stats, size_t *taken, size_t *out_failed)
{
    const size_t width = pass->width, texts = clfi_next_window(t->order, first, count, limit, length_of, t);
    size_t tokens = 0, failed;
    for (size_t k = 0; k < texts; k++)
        tokens += length_of(t, t->order[first + k]);
    int32_t *ids = NULL, *offsets = NULL;
    float *rows = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc(2 * tokens, sizeof *ids, "batch", &ids));
    CLF_GOTO(clfi_alloc(texts + 1, sizeof *offsets, "batch", &offsets));
    CLF_GOTO(clfi_alloc(texts * width, sizeof *rows, "batch", &rows));
    int32_t *types = ids + tokens;
    for (size_t k = 0; k < texts; k++) {
        const size_t i = t->order[first + k], length = length_of(t, i);
        memcpy(ids + offsets[k], t->ids + t->start[i], length * sizeof *ids);
        memcpy(types + offsets[k], t->types + t->start[i], length * sizeof *types);
        offsets[k + 1] = offsets[k] + (int32_t)length;
    }
    CLF_GOTO(run_checked(session, pass, &(clf_sequences){ids, types, offsets, texts}, rows, &failed));
    if (failed < texts) {
        *out_failed = t->order[first + failed];
        CLF_GOTO(fail_corrupt(rows + failed * width, width));
    }
    for (size_t k = 0; k < texts; k++)
        memcpy(out + t->order[first + k] * width, rows + k * width, width * sizeof *rows);
    stats->batches++;
    *taken = texts;
done:
    free(ids);
    free(offsets);
    free(rows);
    return st;
}

clf_status clfi_rows_of_texts(clf_session *session, const clf_row_pass *pass, const clf_row_texts *texts, float *out,
                              clf_embed_stats *stats)
{
    const clf_model_info *info = &session->model->info;
    tokenized t = {.ids = NULL};
    clf_embed_stats done_stats = {.texts = texts->count};
    size_t failed = texts->count;
    if (texts->failed)
        *texts->failed = failed;
    if (texts->max_tokens > (size_t)info->max_positions)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: max_tokens %zu, the model has %lld positions", pass->what, texts->max_tokens,
                 (long long)info->max_positions);
    const size_t limit = texts->batch_tokens ? texts->batch_tokens : clfi_batch_tokens(session->context);
    const uint64_t start = clfi_now_ns();
    const size_t most = texts->max_tokens ? texts->max_tokens : (size_t)info->max_tokens;
    clf_status st = tokenize(session->model, pass->what, texts, most, &done_stats, &t, &failed);
    const uint64_t tokenized_at = clfi_now_ns();
    clfi_profile_phase(session->context, "tokenize", start, tokenized_at);
    if (st == CLF_OK)
        st = clfi_order_by_length(texts->count, length_of, &t, &t.order);
    for (size_t first = 0, taken = 0; st == CLF_OK && first < texts->count; first += taken) {
        st = run_batch(session, pass, &t, first, texts->count, limit, out, &done_stats, &taken, &failed);
        if (st == CLF_OK && texts->progress)
            texts->progress(texts->progress_user, first + taken, texts->count);
    }
    const uint64_t end = clfi_now_ns();
    clfi_profile_phase(session->context, pass->what, tokenized_at, end);
    done_stats.tokens = t.count;
    done_stats.tokenize_ns = tokenized_at - start;
    done_stats.run_ns = end - tokenized_at;
    tokenized_free(&t);
    if (failed < texts->count)
        clfi_fail_prefix(st, texts->failed ? "%s" : "%s: texts[%zu]", pass->what, failed); /* who is given the number says which */
    if (texts->failed)
        *texts->failed = failed;
    if (st == CLF_OK && stats)
        *stats = done_stats;
    return st;
}
