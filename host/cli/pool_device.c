/* SPDX-License-Identifier: MIT */
/* The process of a device: windows of texts in, their numbers out. */
#include "cli/pool_device.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "bench/message.h"

static const clfi_patience for_ever = {0, NULL};

static bool receive_all(int socket, void *data, size_t size)
{
    return clfi_message_receive_bytes(socket, &for_ever, data, size) == CLFI_MESSAGE_OK;
}

typedef struct received {
    char *bytes;
    size_t *sizes;
    clf_text *texts;
    clf_text_pair *pairs;
    float *rows;
} received;

static void free_received(received *r)
{
    free(r->bytes);
    free(r->sizes);
    free(r->texts);
    free(r->pairs);
    free(r->rows);
}

clf_status cli_pool_width(const cli_session *session, const cli_pool_task *what, size_t *out)
{
    *out = 1;
    return what->scoring.query.data ? CLF_OK : cli_embedding_width(session, &what->embedding, out);
}

static clf_status score(cli_session *session, const cli_classifying *options, received *r, size_t count, size_t *failed,
                        clf_embed_stats *stats)
{
    clf_classify_params params = cli_classify_params(options);
    params.failed_text = failed;
    CLF_TRY(clfi_alloc(count, sizeof *r->pairs, "pairs of texts", &r->pairs));
    for (size_t i = 0; i < count; i++)
        r->pairs[i] = (clf_text_pair){options->query, r->texts[i]};
    return clf_model_score_pairs(session->model, r->pairs, count, &params, r->rows, stats);
}

static clf_status embed(cli_session *session, const cli_embedding *options, received *r, size_t count, size_t *failed,
                        clf_embed_stats *stats)
{
    clf_embed_params params = cli_embed_params(options);
    params.failed_text = failed;
    return clf_model_embed(session->model, r->texts, count, &params, r->rows, stats);
}

/* *failed: the text to blame, or as it was. *out_open false: the other side is gone. */
static clf_status work(int socket, cli_session *session, const cli_pool_request *q, received *r, size_t *failed, clf_embed_stats *stats,
                       size_t *out_width, bool *out_open)
{
    size_t width, at = 0;
    CLF_TRY(cli_pool_width(session, &q->what, &width));
    *out_width = width;
    CLF_TRY(clfi_alloc(q->bytes + 1, 1, "texts", &r->bytes));
    CLF_TRY(clfi_alloc(q->count, sizeof *r->sizes, "texts", &r->sizes));
    CLF_TRY(clfi_alloc(q->count, sizeof *r->texts, "texts", &r->texts));
    CLF_TRY(clfi_alloc(q->count * width, sizeof *r->rows, "results", &r->rows));
    *out_open = receive_all(socket, r->sizes, q->count * sizeof *r->sizes) && receive_all(socket, r->bytes, q->bytes);
    if (!*out_open)
        return CLF_OK;
    for (size_t i = 0; i < q->count; at += r->sizes[i++])
        r->texts[i] = (clf_text){r->bytes + at, r->sizes[i]};
    return q->what.scoring.query.data ? score(session, &q->what.scoring, r, q->count, failed, stats)
                                      : embed(session, &q->what.embedding, r, q->count, failed, stats);
}

static bool send_reply(int socket, clf_status status, size_t failed, const clf_embed_stats *stats, const float *rows, size_t numbers)
{
    cli_pool_reply answer = {.status = status, .failed = failed, .numbers = status == CLF_OK ? numbers : 0};
    if (stats)
        answer.stats = *stats;
    if (status != CLF_OK)
        snprintf(answer.reason, sizeof answer.reason, "%s", clf_last_error());
    return clfi_message_send_bytes(socket, &answer, sizeof answer) == CLFI_MESSAGE_OK &&
           clfi_message_send_bytes(socket, rows, answer.numbers * sizeof *rows) == CLFI_MESSAGE_OK;
}

void cli_pool_serve(int socket, const void *user)
{
    const cli_pool_place *at = user;
    cli_session session = *at->session;
    session.device = at->device[0] ? at->device : NULL;
    session.stats = 0;
    session.trace = NULL;
    clf_status st = cli_session_open_model(&session, at->directory);
    bool is_open = send_reply(socket, st, SIZE_MAX, NULL, NULL, 0) && st == CLF_OK;
    while (is_open) {
        cli_pool_request q;
        received r = {NULL, NULL, NULL, NULL, NULL};
        clf_embed_stats stats = {0};
        size_t width = 0, failed = SIZE_MAX;
        if (!receive_all(socket, &q, sizeof q))
            break;
        st = work(socket, &session, &q, &r, &failed, &stats, &width, &is_open);
        is_open = is_open && send_reply(socket, st, failed, &stats, r.rows, q.count * width) && st == CLF_OK;
        free_received(&r);
    }
    st = cli_session_close(&session, NULL);
    (void)st;
}
