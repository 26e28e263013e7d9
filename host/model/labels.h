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

/* The number of labels: those of id2label, else num_labels, else transformers' default of 2. 0 if `architectures` names no class for
 * sequences ("BertForSequenceClassification"). FORMAT: keys of another type. */
clf_status clfi_labels_count(const json_t *config, int64_t *out);

/* Reads number, names ("LABEL_0" where id2label is missing) and problem. FORMAT: id2label's keys are not "0", "1" ... UNSUPPORTED: an
 * unknown problem_type; for a head of one label, a score function as in clfi_score_function_check. */
clf_status clfi_labels_read(const json_t *config, clf_labels *out);
void clfi_labels_free(clf_labels *labels);

/* Checks the function that a cross-encoder applies to its one logit. Callers have the logit and can apply the sigmoid. UNSUPPORTED: a
 * function other than torch.nn's Identity or Sigmoid. FORMAT: it is no string. */
clf_status clfi_score_function_check(const json_t *json, const char *file, const char *key);

#endif
