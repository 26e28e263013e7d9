/* SPDX-License-Identifier: MIT */
/* Embeds all inputs of a command, window by window. */
#include "jobs/embedding.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "console/progress.h"

clf_embed_params cli_embed_params(const cli_embedding *options)
{
    static const int poolings[] = {CLF_POOLING_CLS,  CLF_POOLING_MAX,           CLF_POOLING_MEAN, CLF_POOLING_MEAN_SQRT_LEN,
                                   CLF_POOLING_LAST, CLF_POOLING_WEIGHTED_MEAN, CLF_AS_MODEL};
    static const int normalize[] = {0, 1, CLF_AS_MODEL};
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    params.pooling = poolings[options->pooling];
    params.normalize = normalize[options->normalize];
    params.max_tokens = options->max_tokens;
    params.batch_tokens = options->batch_tokens;
    params.dimensions = options->dimensions;
    params.prompt = options->prompt;
    params.prompt_name = options->prompt_name;
    return params;
}

clf_status cli_embedding_width(const cli_session *session, const cli_embedding *options, size_t *out)
{
    const clf_embed_params params = cli_embed_params(options);
    return clf_model_embedding_width(session->model, &params, out);
}

void cli_add_stats(clf_embed_stats *sum, const clf_embed_stats *more)
{
    sum->texts += more->texts;
    sum->tokens += more->tokens;
    sum->truncated += more->truncated;
    sum->batches += more->batches;
    sum->tokenize_ns += more->tokenize_ns;
    sum->run_ns += more->run_ns;
}

void cli_say_truncated(const clf_model *model, const char *unit, size_t truncated, size_t max_tokens)
{
    if (!truncated)
        return;
    const size_t most = max_tokens ? max_tokens : (size_t)clf_model_get_info(model)->max_tokens;
    fprintf(stderr, "clformer: %zu %s%s longer than %zu %s and cut to that length\n", truncated, unit, truncated == 1 ? " was" : "s were",
            most, clfi_plural(most, "token", "tokens"));
}

clf_status cli_run_windows(cli_session *session, cli_inputs *inputs, const cli_window_work *work, void *user, clf_embed_stats *stats)
{
    const size_t truncated_before = stats->truncated;
    size_t failed = SIZE_MAX;
    cli_progress progress = cli_progress_start("texts", session->context);
    const cli_window_call call = {cli_progress_update, &progress, &failed};
    clf_status st;
    for (;;) {
        clf_embed_stats window;
        CLF_GOTO(cli_inputs_next(inputs));
        if (inputs->count == 0)
            break;
        progress.passed = cli_inputs_passed_share(inputs);
        cli_progress_window(&progress, cli_inputs_share(inputs));
        CLF_GOTO(cli_inputs_blame(inputs, &failed, work->run(user, inputs, &call, &window)));
        cli_add_stats(stats, &window);
        cli_progress_count(&progress, inputs->count);
        CLF_GOTO(work->give(user, inputs));
    }
done:
    cli_line_clear();
    if (st == CLF_OK)
        cli_say_truncated(work->model, work->unit, stats->truncated - truncated_before, work->max_tokens);
    return st;
}

typedef struct embedding_job {
    clf_session *session;
    clf_embed_params params;
    float *rows; /* [CLI_WINDOW, width] */
    size_t width;
    cli_embedding_sink sink;
    void *user;
} embedding_job;

static clf_status embed_window(void *user, const cli_inputs *inputs, const cli_window_call *call, clf_embed_stats *stats)
{
    embedding_job *job = user;
    job->params.progress = call->progress;
    job->params.progress_user = call->progress_user;
    job->params.failed_text = call->failed;
    return clf_session_embed(job->session, inputs->texts, inputs->count, &job->params, job->rows, stats);
}

static clf_status give_rows(void *user, const cli_inputs *inputs)
{
    const embedding_job *job = user;
    return job->sink(job->user, &(cli_embedded){inputs->texts, job->rows, inputs->count, job->width, inputs->window, inputs->total});
}

clf_status cli_embed_all(cli_session *session, const cli_embedding *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                         clf_embed_stats *stats)
{
    const cli_window_work work = {
        .run = embed_window, .give = give_rows, .model = session->model, .unit = "text", .max_tokens = options->max_tokens};
    embedding_job job = {.session = session->work, .params = cli_embed_params(options), .sink = sink, .user = user};
    clf_status st;
    CLF_GOTO(cli_embedding_width(session, options, &job.width));
    CLF_GOTO(clfi_alloc((size_t)CLI_WINDOW * job.width, sizeof *job.rows, "embeddings", &job.rows));
    CLF_GOTO(cli_run_windows(session, inputs, &work, &job, stats));
done:
    free(job.rows);
    return st;
}

clf_status cli_place_rows(void *user, const cli_embedded *window)
{
    float *rows = user;
    memcpy(rows + window->first * window->width, window->rows, window->count * window->width * sizeof *rows);
    return CLF_OK;
}

clf_status cli_collect(void *user, const cli_embedded *window)
{
    cli_collection *c = user;
    const size_t all = c->count + window->count;
    CLF_TRY(clfi_grow(&c->rows, &c->capacity, all * window->width, sizeof *c->rows, "embeddings"));
    CLF_TRY(clfi_grow(&c->ends, &c->end_capacity, all, sizeof *c->ends, "texts"));
    memcpy(c->rows + c->count * window->width, window->rows, window->count * window->width * sizeof *c->rows);
    for (size_t i = 0; i < window->count; i++) {
        CLF_TRY(clfi_str_append(&c->bytes, window->texts[i].data, window->texts[i].size));
        c->ends[c->count + i] = c->bytes.length;
    }
    c->count = all;
    c->width = window->width;
    return CLF_OK;
}

clf_text cli_collection_text(const cli_collection *c, size_t i)
{
    if (!c->ends)
        return (clf_text){"", 0};
    const size_t start = i ? c->ends[i - 1] : 0;
    return (clf_text){clfi_str_text(&c->bytes) + start, c->ends[i] - start};
}

void cli_collection_free(cli_collection *c)
{
    free(c->rows);
    free(c->ends);
    clfi_str_free(&c->bytes);
    *c = (cli_collection){.rows = NULL};
}

int cli_run_on_texts(const cli_command *command, const cli_option *table, size_t options, int argc, char **argv, const char *const *file,
                     cli_session *session, cli_texts_work work, void *user)
{
    cli_inputs *inputs = NULL;
    clf_embed_stats stats = {0};
    int positional;
    clf_status st = cli_parse(command, table, options, argc, argv, &positional);
    if (st == CLF_OK)
        st = cli_inputs_open_after_model(command, argv, positional, *file, &inputs);
    if (st == CLF_OK)
        st = work(user, session, argv[0], inputs, &stats);
    return cli_embedding_end(session, inputs, &stats, st);
}

int cli_embedding_end(cli_session *session, cli_inputs *inputs, const clf_embed_stats *stats, clf_status st)
{
    const int status = st == CLF_OK ? 0 : cli_fail(st);
    cli_inputs_close(inputs);
    st = cli_session_close(session, stats);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
