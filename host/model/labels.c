/* SPDX-License-Identifier: MIT */
/* Reads the labels of classification heads from config.json. */
#include "model/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"
#include "model/model_config.h"

enum { MOST_LABELS = 1 << 20, USUAL_LABELS = 2 };

static const char where[] = CLFI_MODEL_CONFIG;
static const char sequence_class[] = "ForSequenceClassification";

static clf_status is_of_sequences(const json_t *config, bool *out)
{
    const json_t *classes;
    *out = false;
    CLF_TRY(clfi_json_opt_array(config, where, "architectures", &classes));
    for (size_t i = 0; classes && i < json_array_size(classes); i++) {
        const char *name = json_string_value(json_array_get(classes, i));
        const size_t length = name ? strlen(name) : 0, end = sizeof sequence_class - 1;
        *out = *out || (length >= end && strcmp(name + length - end, sequence_class) == 0);
    }
    return CLF_OK;
}

clf_status clfi_labels_count(const json_t *config, int64_t *out)
{
    const json_t *names;
    bool has_head;
    *out = 0;
    CLF_TRY(is_of_sequences(config, &has_head));
    if (!has_head)
        return CLF_OK;
    CLF_TRY(clfi_json_opt_object(config, where, "id2label", &names));
    if (!names)
        return clfi_json_opt_int(config, where, "num_labels", 1, MOST_LABELS, USUAL_LABELS, out);
    if (json_object_size(names) < 1 || json_object_size(names) > MOST_LABELS)
        CLF_FAIL(CLF_FORMAT, "%s: id2label has %zu entries: expected 1 to %d", where, json_object_size(names), MOST_LABELS);
    *out = (int64_t)json_object_size(names);
    return CLF_OK;
}

static clf_status read_problem(const json_t *config, int64_t labels, clf_problem *out)
{
    static const char *const names[] = {"single_label_classification", "multi_label_classification", "regression"};
    const char *name;
    CLF_TRY(clfi_json_opt_string(config, where, "problem_type", NULL, &name));
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(names[i], name ? name : names[0]) == 0) {
            *out = labels == 1 && i == CLF_PROBLEM_SINGLE_LABEL ? CLF_PROBLEM_MULTI_LABEL : (clf_problem)i;
            return CLF_OK;
        }
    }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: problem_type \"%s\": expected %s, %s or %s", where, name, names[0], names[1], names[2]);
}

/* Reads a label's name. transformers keeps a name that is a number as it is, and prints it so. */
static clf_status read_name(const json_t *names, const char *at, const char *key, char **out)
{
    const json_t *value = json_object_get(names, key);
    clf_str number = CLF_STR_INIT;
    const char *name;
    if (!json_is_number(value)) {
        CLF_TRY(clfi_json_get_string(names, at, key, &name));
        return clfi_strdup(name, out);
    }
    clf_status st = clfi_json_write(value, JSON_ENCODE_ANY, at, &number);
    if (st == CLF_OK)
        st = clfi_strdup(clfi_str_text(&number), out);
    clfi_str_free(&number);
    return st;
}

static clf_status read_names(const json_t *config, clf_labels *labels)
{
    static const char at[] = "config.json: id2label";
    const json_t *names;
    char key[32], usual[32];
    CLF_TRY(clfi_json_opt_object(config, where, "id2label", &names));
    CLF_TRY(clfi_alloc((size_t)labels->count, sizeof *labels->name, "labels", &labels->name));
    for (int64_t i = 0; i < labels->count; i++) {
        snprintf(key, sizeof key, "%lld", (long long)i);
        snprintf(usual, sizeof usual, "LABEL_%lld", (long long)i);
        CLF_TRY(names ? read_name(names, at, key, &labels->name[i]) : clfi_strdup(usual, &labels->name[i]));
    }
    return CLF_OK;
}

clf_status clfi_score_function_check(const json_t *json, const char *file, const char *key)
{
    static const char package[] = "torch.nn.", *const names[] = {".Identity", ".Sigmoid"};
    const char *name;
    CLF_TRY(clfi_json_opt_string(json, file, key, NULL, &name));
    const char *last = name ? strrchr(name, '.') : NULL;
    for (size_t i = 0; last && strncmp(name, package, sizeof package - 1) == 0 && i < COUNT(names); i++)
        if (strcmp(last, names[i]) == 0)
            return CLF_OK;
    if (!name)
        return CLF_OK;
    CLF_FAIL(CLF_UNSUPPORTED, "%s: %s \"%s\": expected torch.nn's Identity or Sigmoid", file, key, name);
}

/* Checks the score function under both keys of config.json: the one of newer and the one of older versions of CrossEncoder. */
static clf_status check_score(const json_t *config)
{
    const json_t *settings;
    CLF_TRY(clfi_json_opt_object(config, where, "sentence_transformers", &settings));
    if (settings)
        CLF_TRY(clfi_score_function_check(settings, "config.json: sentence_transformers", "activation_fn"));
    return clfi_score_function_check(config, where, "sbert_ce_default_activation_function");
}

clf_status clfi_labels_read(const json_t *config, clf_labels *out)
{
    clf_labels labels = {.name = NULL};
    clf_status st = clfi_labels_count(config, &labels.count);
    if (st == CLF_OK && labels.count > 0)
        st = read_problem(config, labels.count, &labels.problem);
    if (st == CLF_OK && labels.count == 1)
        st = check_score(config);
    if (st == CLF_OK && labels.count > 0)
        st = read_names(config, &labels);
    if (st != CLF_OK) {
        clfi_labels_free(&labels);
        return st;
    }
    *out = labels;
    return CLF_OK;
}

void clfi_labels_free(clf_labels *labels)
{
    for (int64_t i = 0; labels->name && i < labels->count; i++)
        free(labels->name[i]);
    free(labels->name);
    *labels = (clf_labels){.name = NULL};
}
