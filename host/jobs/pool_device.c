/* SPDX-License-Identifier: MIT */
/* Runs the process of one device: receives windows of texts and returns their embeddings or scores. */
#include "jobs/pool_device.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "process/socket.h"

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

size_t cli_pool_texts(const cli_pool_task *what, size_t count)
{
    return what->scores && !what->scoring.query.data ? 2 * count : count;
}

clf_status cli_pool_width(const cli_session *session, const cli_pool_task *what, size_t *out)
{
    *out = 1;
    return what->scores ? CLF_OK : cli_embedding_width(session, &what->embedding, out);
}

static clf_status score(cli_session *session, const cli_classifying *options, received *r, size_t count, size_t *failed,
                        clf_embed_stats *stats)
{
    clf_classify_params params = cli_classify_params(options);
    params.failed_text = failed;
    CLF_TRY(clfi_alloc(count, sizeof *r->pairs, "pairs of texts", &r->pairs));
    for (size_t i = 0; i < count; i++)
        r->pairs[i] =
            options->query.data ? (clf_text_pair){options->query, r->texts[i]} : (clf_text_pair){r->texts[i], r->texts[count + i]};
    return clf_session_score_pairs(session->scoring, r->pairs, count, &params, r->rows, stats);
}

static clf_status embed(cli_session *session, const cli_embedding *options, received *r, size_t count, size_t *failed,
                        clf_embed_stats *stats)
{
    clf_embed_params params = cli_embed_params(options);
    params.failed_text = failed;
    return clf_session_embed(session->work, r->texts, count, &params, r->rows, stats);
}

/* Receives the texts of a request and computes r->rows. *failed: the text that caused a failure, else unchanged. *out_open false: the other
 * side is gone. */
static clf_status work(int socket, cli_session *session, const cli_pool_request *q, received *r, size_t *failed, clf_embed_stats *stats,
                       size_t *out_width, bool *out_open)
{
    const size_t texts = cli_pool_texts(&q->what, q->count);
    size_t width, at = 0;
    CLF_TRY(cli_pool_width(session, &q->what, &width));
    *out_width = width;
    CLF_TRY(clfi_alloc(q->bytes + 1, 1, "texts", &r->bytes));
    CLF_TRY(clfi_alloc(texts, sizeof *r->sizes, "texts", &r->sizes));
    CLF_TRY(clfi_alloc(texts, sizeof *r->texts, "texts", &r->texts));
    CLF_TRY(clfi_alloc(q->count * width, sizeof *r->rows, "results", &r->rows));
    *out_open = receive_all(socket, r->sizes, texts * sizeof *r->sizes) && receive_all(socket, r->bytes, q->bytes);
    if (!*out_open)
        return CLF_OK;
    for (size_t i = 0; i < texts; at += r->sizes[i++])
        r->texts[i] = (clf_text){r->bytes + at, r->sizes[i]};
    return q->what.scores ? score(session, &q->what.scoring, r, q->count, failed, stats)
                          : embed(session, &q->what.embedding, r, q->count, failed, stats);
}

/* Sends an answer and, if its status is CLF_OK, its rows. Returns whether further requests may come: after a failure none do. */
static bool send_reply(int socket, cli_pool_reply *answer, const float *rows)
{
    if (answer->status != CLF_OK) {
        answer->numbers = 0;
        snprintf(answer->reason, sizeof answer->reason, "%s", clf_last_error());
    }
    return clfi_message_send_bytes(socket, answer, sizeof *answer) == CLFI_MESSAGE_OK &&
           clfi_message_send_bytes(socket, rows, answer->numbers * sizeof *rows) == CLFI_MESSAGE_OK && answer->status == CLF_OK;
}

static unsigned product_precisions(clf_context *context)
{
    clf_context_stats stats;
    clf_context_get_stats(context, &stats);
    return stats.product_precisions;
}

void cli_pool_serve(int socket, const void *user)
{
    const cli_pool_place *at = user;
    cli_session session = *at->session;
    session.device = at->device[0] ? at->device : NULL;
    session.stats = 0;
    session.trace = NULL;
    cli_pool_reply first = {.status = cli_session_open_model(&session, at->directory), .failed = SIZE_MAX};
    if (first.status == CLF_OK)
        first.linear_engine = clf_model_get_info(session.model)->linear_engine;
    bool is_open = send_reply(socket, &first, NULL);
    while (is_open) {
        cli_pool_request q;
        cli_pool_reply answer = {.failed = SIZE_MAX};
        received r = {NULL, NULL, NULL, NULL, NULL};
        size_t width = 0;
        if (!receive_all(socket, &q, sizeof q))
            break;
        answer.status = work(socket, &session, &q, &r, &answer.failed, &answer.stats, &width, &is_open);
        answer.numbers = q.count * width;
        answer.product_precisions = product_precisions(session.context);
        is_open = is_open && send_reply(socket, &answer, r.rows);
        free_received(&r);
    }
    const clf_status st = cli_session_close(&session, NULL);
    (void)st;
}
