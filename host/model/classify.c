/* SPDX-License-Identifier: MIT */
/* Classifies texts and scores pairs: runs the encoder, then the network's head. */
#include "clformer/classify.h"

#include <math.h>

#include "base/alloc.h"
#include "base/options.h"
#include "model/text_rows.h"

CLFI_OPTIONS(clf_classify_params, CLF_CLASSIFY_PARAMS_INIT)

_Static_assert(sizeof(clf_text_pair) == 2 * sizeof(clf_text), "a pair is an array of two texts");

/* Computes a batch's logits, as clf_row_pass.run. */
static clf_status classify_batch(clf_session *session, const void *user, const clf_token_batch *batch, const clf_view *logits)
{
    const clf_network *network = session->model->network;
    clf_view hidden;
    (void)user;
    CLF_TRY(clfi_view_temporary(session->context, CLF_F32, 2, (int64_t[]){batch->tokens, session->model->info.width}, &hidden));
    CLF_TRY(clfi_session_encode(session, batch, &hidden));
    return clfi_classifier_forward(session->context, &network->classifier, &network->config.classifier, &hidden, &batch->offsets, logits);
}

static clf_status settle(const clf_model *model, const char *what, clf_row_pass *out)
{
    if (model->network->config.classifier.labels == 0)
        CLF_FAIL(CLF_UNSUPPORTED,
                 "%s: the model has no classification head: expected a class that ends in ForSequenceClassification in config.json's "
                 "architectures",
                 what);
    *out = (clf_row_pass){.what = what, .width = (size_t)model->labels.count, .run = classify_batch, .may_be_zero = true};
    return CLF_OK;
}

static clf_status run(clf_session *session, const char *what, const clf_text_pair *texts, size_t count, const char *prompt,
                      const clf_classify_params *params, float *logits, clf_embed_stats *stats)
{
    clf_classify_params own;
    clf_row_pass pass;
    CLF_TRY(clf_classify_params_read(params, &own));
    if (!session || (count && (!(texts || own.tokens) || !logits)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: session, texts and logits must not be NULL", what);
    CLF_TRY(settle(session->model, what, &pass));
    const clf_row_texts given = {.texts = (const clf_text *)texts,
                                 .tokens = own.tokens,
                                 .count = count,
                                 .parts = 2,
                                 .prompt = prompt,
                                 .max_tokens = own.max_tokens,
                                 .batch_tokens = own.batch_tokens,
                                 .progress = own.progress,
                                 .progress_user = own.progress_user,
                                 .failed = own.failed_text};
    return clfi_rows_of_texts(session, &pass, &given, logits, stats);
}

static void softmax(const float *logits, size_t n, float *out)
{
    double sum = 0, most = logits[0];
    for (size_t i = 1; i < n; i++)
        most = fmax(most, logits[i]);
    for (size_t i = 0; i < n; i++)
        sum += exp(logits[i] - most);
    for (size_t i = 0; i < n; i++)
        out[i] = (float)(exp(logits[i] - most) / sum);
}

clf_status clf_session_classify(clf_session *session, const clf_text_pair *texts, size_t count, const clf_classify_params *params,
                                float *logits, float *scores, clf_embed_stats *stats)
{
    CLF_TRY(run(session, "classify", texts, count, NULL, params, logits, stats));
    const clf_labels *labels = &session->model->labels;
    const size_t n = (size_t)labels->count;
    for (size_t i = 0; scores && i < count; i++) {
        if (labels->problem == CLF_PROBLEM_SINGLE_LABEL)
            softmax(logits + i * n, n, scores + i * n);
        for (size_t k = i * n; labels->problem != CLF_PROBLEM_SINGLE_LABEL && k < (i + 1) * n; k++)
            scores[k] = labels->problem == CLF_PROBLEM_MULTI_LABEL ? (float)(1 / (1 + exp(-(double)logits[k]))) : logits[k];
    }
    return CLF_OK;
}

/* Checks that the model scores pairs. *out_prompt: the prompt that a cross-encoder puts before queries; NULL: none. */
static clf_status settle_pairs(const clf_model *model, const char **out_prompt)
{
    const clf_sentence_settings *settings = &model->settings;
    if (model->labels.count > 1)
        CLF_FAIL(CLF_UNSUPPORTED, "score pairs: the model's head has %lld labels: expected 1", (long long)model->labels.count);
    const bool has_prompt = settings->is_cross_encoder && settings->prompts.standard;
    *out_prompt = has_prompt ? clfi_prompts_find(&settings->prompts, settings->prompts.standard) : NULL;
    return CLF_OK;
}

clf_status clf_session_score_pairs(clf_session *session, const clf_text_pair *pairs, size_t count, const clf_classify_params *params,
                                   float *logits, clf_embed_stats *stats)
{
    const char *prompt = NULL;
    if (session)
        CLF_TRY(settle_pairs(session->model, &prompt));
    return run(session, "score pairs", pairs, count, prompt, params, logits, stats);
}

clf_status clfi_classify_packer(clf_session *session, const clf_classify_params *params, bool scores_pairs,
                                const clf_row_packer_params *feed, clf_row_packer **out)
{
    clf_classify_params own;
    clf_row_packer_params all = *feed;
    clf_row_pass pass, *kept;
    CLF_TRY(clf_classify_params_read(params, &own));
    all.prompt = NULL;
    if (scores_pairs)
        CLF_TRY(settle_pairs(session->model, &all.prompt));
    CLF_TRY(settle(session->model, scores_pairs ? "score pairs" : "classify", &pass));
    CLF_TRY(clfi_alloc(1, sizeof *kept, "packer", &kept));
    *kept = pass;
    all.pass = all.owned = kept;
    all.max_tokens = own.max_tokens;
    all.batch_tokens = own.batch_tokens;
    return clfi_row_packer_create(session, &all, out);
}

size_t clf_model_label_count(const clf_model *model)
{
    return model ? (size_t)model->network->config.classifier.labels : 0;
}

const char *clf_model_label(const clf_model *model, size_t index)
{
    return index < clf_model_label_count(model) ? model->labels.name[index] : NULL;
}

clf_problem clf_model_problem(const clf_model *model)
{
    return model ? model->labels.problem : CLF_PROBLEM_SINGLE_LABEL;
}
