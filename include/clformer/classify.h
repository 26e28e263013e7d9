/* SPDX-License-Identifier: MIT */
/* Classification of texts and pairs of texts by a model's head; reranking is scoring pairs of a query and a document. */
#ifndef CLFORMER_CLASSIFY_H
#define CLFORMER_CLASSIFY_H

#include "clformer/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Meaning of a head's logits, by config.json's problem_type. Where that is missing, several labels exclude each other, as in transformers'
 * pipeline for classification. */
typedef enum clf_problem {
    CLF_PROBLEM_SINGLE_LABEL, /* one label holds: scores are the softmax over the labels */
    CLF_PROBLEM_MULTI_LABEL,  /* any number hold: scores are sigmoids; also every head of one label that is no regression */
    CLF_PROBLEM_REGRESSION    /* the logit itself is the score */
} clf_problem;

/* count: number of labels of the model's head; 0 if the checkpoint has no head or model is NULL. label: name of label `index`
 * (config.json's id2label, else "LABEL_0" ...), borrowed; NULL if index is out of range. problem: meaning of the logits; SINGLE_LABEL for
 * NULL. */
CLF_API size_t clf_model_label_count(const clf_model *model);
CLF_API const char *clf_model_label(const clf_model *model, size_t index);
CLF_API clf_problem clf_model_problem(const clf_model *model);

/* A text, or two that the tokenizer joins with separators and token types: second.data NULL = one text. */
typedef struct clf_text_pair {
    clf_text first, second;
} clf_text_pair;

typedef struct clf_classify_params {
    size_t size;           /* sizeof(clf_classify_params) */
    size_t max_tokens;     /* longer texts are truncated to so many tokens with the special ones (of a pair the longer text); 0 = as the
                              model */
    size_t batch_tokens;   /* tokens in one forward pass; 0 = suited to the device */
    clf_progress progress; /* texts; NULL = none */
    void *progress_user;
    size_t *failed_text; /* receives the index of a text whose logits are corrupt or that the tokenizer refuses (the message then leaves the
                            index out); else the number of texts; NULL = not wanted */
    const clf_tokens *tokens; /* [count]: token ids in place of the texts (pairs), which are not read then; NULL = texts */
} clf_classify_params;

#define CLF_CLASSIFY_PARAMS_INIT {.size = sizeof(clf_classify_params)}
CLF_API CLF_NODISCARD clf_status clf_classify_params_default(clf_classify_params *out, size_t size); /* clformer.h: options */

/* logits[i*n + k] is that of label k for text i, n = clf_model_label_count. It is Wo f(Wd p + bd) + bo, in ModernBERT with a layer norm
 * after f. p is the first token's last vector or the mean of all, as the family has it. scores: the same shape, softmax, sigmoid or logit
 * by clf_model_problem; NULL = not wanted. Texts are packed as clf_session_embed does; a text's result depends on its batch only by
 * rounding. params NULL = defaults; stats may be NULL. Synchronous.
 * INVALID_ARGUMENT: a NULL; max_tokens above max_positions or too small for the special tokens; tokens outside the vocabulary or its types,
 * or more than max_tokens (else max_positions) of one text. CANCELLED: by progress. UNSUPPORTED: the model has no head
 * (config.json's architectures name no ...ForSequenceClassification). INTERNAL: a logit is not finite, also when its batch is computed
 * again on the portable engines (the text is named). */
CLF_API CLF_NODISCARD clf_status clf_session_classify(clf_session *session, const clf_text_pair *texts, size_t count,
                                                      const clf_classify_params *params, float *logits, float *scores,
                                                      clf_embed_stats *stats);

/* Scores each pair with a head of one label, as cross-encoders have: logits[i] belongs to pair i; first = the query, second = the document.
 * sentence-transformers' CrossEncoder gives 1 / (1 + exp(-logit)) by default. If there is a modules.json and
 * config_sentence_transformers.json is a CrossEncoder's, the prompt of its default_prompt_name goes before each query. Everything else as
 * clf_session_classify; UNSUPPORTED also: the head has several labels. */
CLF_API CLF_NODISCARD clf_status clf_session_score_pairs(clf_session *session, const clf_text_pair *pairs, size_t count,
                                                         const clf_classify_params *params, float *logits, clf_embed_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
