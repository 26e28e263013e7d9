/* SPDX-License-Identifier: MIT */
/* Reads a classification head's labels from config.json: their number, their names, and the meaning of their logits. */
#ifndef CLFI_MODEL_LABELS_H
#define CLFI_MODEL_LABELS_H

#include <jansson.h>

#include "clformer/classify.h"

typedef struct clf_labels {
    char **name;   /* owned */
    int64_t count; /* 0: the checkpoint has no head */
    clf_problem problem;
} clf_labels;

/* How many labels: those of id2label, else num_labels, else transformers' 2; 0 where `architectures` names no class for sequences
 * ("BertForSequenceClassification"). FORMAT: keys of another type. */
clf_status clfi_labels_count(const json_t *config, int64_t *out);

/* Those, with their names ("LABEL_0" where id2label is missing). FORMAT: id2label's keys are not "0", "1" ... UNSUPPORTED: a problem_type
 * that is none of transformers', a score function of a head of one label, as clfi_score_function_check. */
clf_status clfi_labels_read(const json_t *config, clf_labels *out);
void clfi_labels_free(clf_labels *labels);

/* Checks a cross-encoder's function of its one logit; callers have the logit and its sigmoid. UNSUPPORTED: another function
 * than torch.nn's Identity or Sigmoid. FORMAT: it is no string. */
clf_status clfi_score_function_check(const json_t *json, const char *file, const char *key);

#endif
