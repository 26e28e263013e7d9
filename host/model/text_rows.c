/* SPDX-License-Identifier: MIT */
/* Runs a list of texts through a row packer. */
#include "model/text_rows.h"

#include <string.h>

#include "base/clock.h"
#include "runtime/profile.h"

typedef struct row_list {
    const clf_row_pass *pass;
    float *out;
    size_t done;
    size_t failed; /* index of the text that ends the call; else the number of texts */
} row_list;

/* A clf_row_sink. */
static clf_status take_row(void *user, size_t tag, const float *row, clf_status status)
{
    row_list *j = user;
    j->done++;
    if (status == CLF_OK)
        memcpy(j->out + tag * j->pass->width, row, j->pass->width * sizeof *row);
    else
        j->failed = tag;
    return status;
}

static clf_status add_all(clf_row_packer *packer, const clf_row_texts *texts, row_list *j)
{
    for (size_t i = 0; i < texts->count; i++) {
        const clf_row_item item = {.tag = i,
                                   .texts = texts->tokens ? NULL : &texts->texts[i * texts->parts],
                                   .parts = texts->parts,
                                   .tokens = texts->tokens ? &texts->tokens[i] : NULL};
        const bool is_null = !texts->tokens && ((!item.texts[0].data && item.texts[0].size) ||
                                                (item.parts > 1 && !item.texts[1].data && item.texts[1].size));
        const clf_status st = clfi_row_packer_add(packer, &item);
        if (is_null)
            return clfi_fail_prefix(st, "%s: texts[%zu]", j->pass->what, i);
        j->failed = st == CLF_UNSUPPORTED || (st != CLF_OK && texts->tokens) ? i : j->failed;
        CLF_TRY(st);
    }
    return CLF_OK;
}

static clf_status run_all(clf_row_packer *packer, const clf_row_texts *texts, const row_list *j)
{
    while (clfi_row_packer_load(packer) > 0) {
        CLF_TRY(clfi_row_packer_step(packer));
        if (texts->progress && texts->progress(texts->progress_user, j->done, texts->count) && j->done < texts->count)
            CLF_FAIL(CLF_CANCELLED, "%s: cancelled after %zu of %zu texts", j->pass->what, j->done, texts->count);
    }
    return CLF_OK;
}

clf_status clfi_rows_of_texts(clf_session *session, const clf_row_pass *pass, const clf_row_texts *texts, float *out,
                              clf_embed_stats *stats)
{
    row_list j = {.pass = pass, .out = out, .failed = texts->count};
    const clf_row_packer_params params = {.pass = pass,
                                          .prompt = texts->prompt,
                                          .max_tokens = texts->max_tokens,
                                          .batch_tokens = texts->batch_tokens,
                                          .sink = take_row,
                                          .user = &j};
    clf_row_packer *packer;
    if (texts->failed)
        *texts->failed = texts->count;
    CLF_TRY(clfi_row_packer_create(session, &params, &packer));
    const uint64_t start = clfi_now_ns();
    clf_status st = add_all(packer, texts, &j);
    const uint64_t tokenized_at = clfi_now_ns();
    clfi_profile_phase(session->context, "tokenize", start, tokenized_at);
    if (st == CLF_OK)
        st = run_all(packer, texts, &j);
    const uint64_t end = clfi_now_ns();
    clfi_profile_phase(session->context, pass->what, tokenized_at, end);
    clf_embed_stats done_stats = clfi_row_packer_stats(packer);
    done_stats.tokenize_ns = tokenized_at - start;
    done_stats.run_ns = end - tokenized_at;
    clfi_row_packer_destroy(packer);
    if (j.failed < texts->count)
        clfi_fail_prefix(st, texts->failed ? "%s" : "%s: texts[%zu]", pass->what, j.failed); /* a caller that receives the index names the
                                                                                                text itself */
    if (texts->failed)
        *texts->failed = j.failed;
    if (st == CLF_OK && stats)
        *stats = done_stats;
    return st;
}
