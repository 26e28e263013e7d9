/* SPDX-License-Identifier: MIT */
/* Classifies every input of a command, window by window. */
#include "jobs/classifying.h"

#include <stdlib.h>

#include "base/alloc.h"

clf_classify_params cli_classify_params(const cli_classifying *options)
{
    clf_classify_params params = CLF_CLASSIFY_PARAMS_INIT;
    params.max_tokens = options->max_tokens;
    params.batch_tokens = options->batch_tokens;
    return params;
}

typedef struct classifying_job {
    clf_session *session;
    clf_text query;
    bool scores_pairs; /* the head has one label, and `scores` is not filled */
    clf_classify_params params;
    clf_text_pair *pairs;   /* [CLI_WINDOW] */
    float *logits, *scores; /* [CLI_WINDOW, labels] */
    size_t labels;
    cli_classifying_sink sink;
    void *user;
} classifying_job;

static clf_status classify_window(void *user, const cli_inputs *inputs, const cli_window_call *call, clf_embed_stats *stats)
{
    classifying_job *job = user;
    job->params.progress = call->progress;
    job->params.progress_user = call->progress_user;
    job->params.failed_text = call->failed;
    for (size_t i = 0; i < inputs->count; i++)
        job->pairs[i] =
            job->query.data ? (clf_text_pair){job->query, inputs->texts[i]} : (clf_text_pair){inputs->texts[i], inputs->seconds[i]};
    if (job->scores_pairs)
        return clf_session_score_pairs(job->session, job->pairs, inputs->count, &job->params, job->logits, stats);
    return clf_session_classify(job->session, job->pairs, inputs->count, &job->params, job->logits, job->scores, stats);
}

static clf_status give_rows(void *user, const cli_inputs *inputs)
{
    const classifying_job *job = user;
    return job->sink(job->user, inputs, job->logits, job->scores, job->labels);
}

static clf_status run(cli_session *session, const cli_classifying *options, bool scores_pairs, cli_inputs *inputs,
                      cli_classifying_sink sink, void *user, clf_embed_stats *stats)
{
    const clf_model *model = cli_session_scorer(session);
    const cli_window_work work = {.run = classify_window,
                                  .give = give_rows,
                                  .model = model,
                                  .unit = scores_pairs ? "pair" : "text",
                                  .max_tokens = options->max_tokens};
    classifying_job job = {.session = session->scoring,
                           .query = options->query,
                           .scores_pairs = scores_pairs,
                           .params = cli_classify_params(options),
                           .labels = clf_model_label_count(model),
                           .sink = sink,
                           .user = user};
    const size_t most = (size_t)CLI_WINDOW * (job.labels ? job.labels : 1);
    clf_status st;
    CLF_GOTO(clfi_alloc(CLI_WINDOW, sizeof *job.pairs, "pairs of texts", &job.pairs));
    CLF_GOTO(clfi_alloc(most, sizeof *job.logits, "logits", &job.logits));
    CLF_GOTO(clfi_alloc(most, sizeof *job.scores, "scores", &job.scores));
    CLF_GOTO(cli_run_windows(session, inputs, &work, &job, stats));
done:
    free(job.pairs);
    free(job.logits);
    free(job.scores);
    return st;
}

clf_status cli_classify_all(cli_session *session, const cli_classifying *options, cli_inputs *inputs, cli_classifying_sink sink, void *user,
                            clf_embed_stats *stats)
{
    return run(session, options, false, inputs, sink, user, stats);
}

typedef struct score_sink {
    cli_embedding_sink sink;
    void *user;
} score_sink;

/* A cli_classifying_sink. */
static clf_status pass_logits(void *user, const cli_inputs *inputs, const float *logits, const float *scores, size_t labels)
{
    const score_sink *to = user;
    (void)scores;
    return to->sink(to->user, &(cli_embedded){inputs->texts, logits, inputs->count, labels, inputs->window, inputs->total});
}

clf_status cli_score_all(cli_session *session, const cli_classifying *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                         clf_embed_stats *stats)
{
    score_sink to = {sink, user};
    return run(session, options, true, inputs, pass_logits, &to, stats);
}
