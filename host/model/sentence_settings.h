/* SPDX-License-Identifier: MIT */
/* Reads config_sentence_transformers.json: what a model does with its network beyond modules.json. sentence-transformers reads the file
 * only beside modules.json. */
#ifndef CLFI_MODEL_SENTENCE_SETTINGS_H
#define CLFI_MODEL_SENTENCE_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>

#include "io/model_directory.h"
#include "model/prompts.h"

#define CLFI_SENTENCE_SETTINGS "config_sentence_transformers.json"

typedef struct clf_sentence_settings {
    bool is_cross_encoder; /* model_type: prompts go before the queries of pairs, not before texts that are embedded */
    int64_t truncate_dim;  /* features that an embedding keeps where the caller names no number; 0: all */
    clf_prompts prompts;
} clf_sentence_settings;

/* labels: of the checkpoint's head. FORMAT: the file is broken. UNSUPPORTED: a model_type that is neither SentenceTransformer nor
 * CrossEncoder, an activation_fn of a cross-encoder that clfi_score_function_check refuses. */
clf_status clfi_sentence_settings_parse(const json_t *json, int64_t labels, clf_sentence_settings *out);

/* Reads the directory's file; without a file all settings have their defaults. */
clf_status clfi_sentence_settings_read(const char *directory, int64_t labels, clf_sentence_settings *out);
void clfi_sentence_settings_free(clf_sentence_settings *settings);

#endif
