/* SPDX-License-Identifier: MIT */
/* Classifying every input, window by window. */
#include "jobs/classifying.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "console/progress.h"

clf_classify_params cli_classify_params(const cli_classifying *options)
{
    clf_classify_params params = CLF_CLASSIFY_PARAMS_INIT;
    params.max_tokens = options->max_tokens;
    params.batch_tokens = options->batch_tokens;
    return params;
}

/* scores_pairs: logits alone, of a head of one label. */
static clf_status run_windows(cli_session *session, const cli_classifying *options, bool scores_pairs, cli_inputs *inputs,
                              cli_classifying_sink sink, void *user, clf_embed_stats *stats)
{
    const size_t labels = clf_model_label_count(cli_session_scorer(session)), most = (size_t)CLI_WINDOW * (labels ? labels : 1);
    size_t failed = SIZE_MAX;
    clf_text_pair *pairs = NULL;
    float *logits = NULL, *scores = NULL;
    cli_progress progress = cli_progress_start("texts", session->context);
    clf_classify_params params = cli_classify_params(options);
    params.progress = cli_progress_update;
    params.progress_user = &progress;
    params.failed_text = &failed;
    clf_status st;
    CLF_GOTO(clfi_alloc(CLI_WINDOW, sizeof *pairs, "pairs of texts", &pairs));
    CLF_GOTO(clfi_alloc(most, sizeof *logits, "logits", &logits));
    CLF_GOTO(clfi_alloc(most, sizeof *scores, "scores", &scores));
    for (;;) {
        clf_embed_stats window;
        CLF_GOTO(cli_inputs_next(inputs));
        if (inputs->count == 0)
            break;
        for (size_t i = 0; i < inputs->count; i++)
            pairs[i] = options->query.data ? (clf_text_pair){options->query, inputs->texts[i]}
                                           : (clf_text_pair){inputs->texts[i], inputs->seconds[i]};
        cli_progress_window(&progress, cli_inputs_share(inputs));
        if (scores_pairs)
            st = clf_session_score_pairs(session->scoring, pairs, inputs->count, &params, logits, &window);
        else
            st = clf_session_classify(session->scoring, pairs, inputs->count, &params, logits, scores, &window);
        CLF_GOTO(cli_inputs_blame(inputs, &failed, st));
        cli_add_stats(stats, &window);
        cli_progress_count(&progress, inputs->count);
        CLF_GOTO(sink(user, inputs, logits, scores, labels));
    }
done:
    cli_line_clear();
    free(pairs);
    free(logits);
    free(scores);
    return st;
}

static clf_status run(cli_session *session, const cli_classifying *options, bool scores_pairs, cli_inputs *inputs,
                      cli_classifying_sink sink, void *user, clf_embed_stats *stats)
{
    const size_t before = stats->truncated;
    CLF_TRY(run_windows(session, options, scores_pairs, inputs, sink, user, stats));
    cli_say_truncated(cli_session_scorer(session), scores_pairs ? "pair" : "text", stats->truncated - before, options->max_tokens);
    return CLF_OK;
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
