/* SPDX-License-Identifier: MIT */
/* Embedding every input, window by window. */
#include "cli/embedding.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/progress.h"

static clf_embed_params make_params(const cli_embedding *options, cli_progress *progress)
{
    static const int poolings[] = {CLF_POOLING_CLS, CLF_POOLING_MAX, CLF_POOLING_MEAN, CLF_POOLING_MEAN_SQRT_LEN, CLF_AS_MODEL};
    static const int normalize[] = {0, 1, CLF_AS_MODEL};
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    params.pooling = poolings[options->pooling];
    params.normalize = normalize[options->normalize];
    params.max_tokens = options->max_tokens;
    params.batch_tokens = options->batch_tokens;
    params.progress = cli_progress_update;
    params.progress_user = progress;
    return params;
}

static void add_stats(clf_embed_stats *sum, const clf_embed_stats *more)
{
    sum->texts += more->texts;
    sum->tokens += more->tokens;
    sum->truncated += more->truncated;
    sum->batches += more->batches;
    sum->tokenize_ns += more->tokenize_ns;
    sum->run_ns += more->run_ns;
}

clf_status cli_embed_all(cli_session *session, const cli_embedding *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                         clf_embed_stats *stats)
{
    const clf_model_info *info = clf_model_get_info(session->model);
    const size_t width = (size_t)info->width, truncated_before = stats->truncated;
    float *rows = NULL;
    cli_progress progress = cli_progress_start("texts");
    const clf_embed_params params = make_params(options, &progress);
    clf_status st;
    CLF_GOTO(clfi_alloc((size_t)CLI_WINDOW * width, sizeof *rows, "embeddings", &rows));
    for (;;) {
        clf_embed_stats window;
        CLF_GOTO(cli_inputs_next(inputs));
        if (inputs->count == 0)
            break;
        CLF_GOTO(clf_model_embed(session->model, inputs->texts, inputs->count, &params, rows, &window));
        add_stats(stats, &window);
        cli_progress_window(&progress, inputs->count);
        CLF_GOTO(sink(user, inputs->texts, inputs->count, rows, width));
    }
done:
    cli_progress_end(&progress);
    const size_t truncated = stats->truncated - truncated_before;
    if (st == CLF_OK && truncated)
        fprintf(stderr, "clformer: %zu %s longer than %zu tokens and cut there\n", truncated, truncated == 1 ? "text was" : "texts were",
                options->max_tokens ? options->max_tokens : (size_t)info->max_tokens);
    free(rows);
    return st;
}

clf_status cli_collect(void *user, const clf_text *texts, size_t count, const float *rows, size_t width)
{
    cli_collection *c = user;
    CLF_TRY(clfi_grow(&c->rows, &c->capacity, (c->count + count) * width, sizeof *c->rows, "embeddings"));
    CLF_TRY(clfi_grow(&c->ends, &c->end_capacity, c->count + count, sizeof *c->ends, "texts"));
    memcpy(c->rows + c->count * width, rows, count * width * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        CLF_TRY(clfi_str_append(&c->bytes, texts[i].data, texts[i].size));
        c->ends[c->count + i] = c->bytes.length;
    }
    c->count += count;
    c->width = width;
    return CLF_OK;
}

void cli_collection_free(cli_collection *c)
{
    free(c->rows);
    free(c->ends);
    clfi_str_free(&c->bytes);
    *c = (cli_collection){.rows = NULL};
}

int cli_embedding_end(cli_session *session, cli_inputs *inputs, const clf_embed_stats *stats, clf_status st)
{
    const int status = st == CLF_OK ? 0 : cli_fail(st);
    cli_inputs_close(inputs);
    st = cli_session_close(session, stats);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
