/* SPDX-License-Identifier: MIT */
/* Options and loop shared by the commands that use a model's classification head. */
#ifndef CLFI_JOBS_CLASSIFYING_H
#define CLFI_JOBS_CLASSIFYING_H

#include "jobs/embedding.h"
#include "clformer/classify.h"

typedef struct cli_classifying {
    size_t max_tokens, batch_tokens;
    clf_text query; /* first text of every pair, the inputs are the second ones; data NULL: the inputs are pairs or single texts */
} cli_classifying;

#define CLI_CLASSIFYING_OPTIONS(c)                                                                                         \
    {"max-tokens", 0, "N", "cut longer texts (default: the model's maximum)", CLI_SIZE, &(c).max_tokens},                  \
    {                                                                                                                      \
        "batch-tokens", 0, "N", "tokens in one forward pass (default: chosen for the device)", CLI_SIZE, &(c).batch_tokens \
    }

/* Parameters of clf_session_classify and clf_session_score_pairs; the caller adds the progress callback. */
clf_classify_params cli_classify_params(const cli_classifying *options);

/* Receives a window's rows: logits and scores of `labels` numbers each. */
typedef clf_status (*cli_classifying_sink)(void *user, const cli_inputs *inputs, const float *logits, const float *scores, size_t labels);

/* Classifies all inputs, window by window, with the session's scorer. Adds totals to *stats; one line on standard error counts truncated
 * texts. */
clf_status cli_classify_all(cli_session *session, const cli_classifying *options, cli_inputs *inputs, cli_classifying_sink sink, void *user,
                            clf_embed_stats *stats);

/* Scores pairs in the same way, by a head of one label: the sink receives rows of one logit. */
clf_status cli_score_all(cli_session *session, const cli_classifying *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                         clf_embed_stats *stats);

#endif
