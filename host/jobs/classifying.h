/* SPDX-License-Identifier: MIT */
/* Shared by the commands over a model's classification head. */
#ifndef CLFI_JOBS_CLASSIFYING_H
#define CLFI_JOBS_CLASSIFYING_H

#include "jobs/embedding.h"
#include "clformer/classify.h"

typedef struct cli_classifying {
    size_t max_tokens, batch_tokens;
    clf_text query; /* data not NULL: the first text of every pair, whose second are the inputs */
} cli_classifying;

#define CLI_CLASSIFYING_OPTIONS(c)                                                                                         \
    {"max-tokens", 0, "N", "cut longer texts (default: the model's maximum)", CLI_SIZE, &(c).max_tokens},                  \
    {                                                                                                                      \
        "batch-tokens", 0, "N", "tokens in one forward pass (default: chosen for the device)", CLI_SIZE, &(c).batch_tokens \
    }

/* The options for the library's calls, without progress. */
clf_classify_params cli_classify_params(const cli_classifying *options);

/* Receives a window's rows: logits and scores of `labels` numbers each. */
typedef clf_status (*cli_classifying_sink)(void *user, const cli_inputs *inputs, const float *logits, const float *scores, size_t labels);

/* Every input window by window, by the session's scorer; totals are added to *stats; one notice on standard error tells of truncated
 * texts. */
clf_status cli_classify_all(cli_session *session, const cli_classifying *options, cli_inputs *inputs, cli_classifying_sink sink, void *user,
                            clf_embed_stats *stats);

/* The same for pairs, with the query where there is one, whose logits the sink receives as rows of one number. */
clf_status cli_score_all(cli_session *session, const cli_classifying *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                         clf_embed_stats *stats);

#endif
