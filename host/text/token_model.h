/* SPDX-License-Identifier: MIT */
/* Kinds of tokenizer models: how one pre-tokenized word becomes ids. Each kind is a file of its own and a row of token_model.c. */
#ifndef CLFI_TEXT_TOKEN_MODEL_H
#define CLFI_TEXT_TOKEN_MODEL_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "text/vocabulary.h"

/* Growable array of ids. */
typedef struct clf_id_list {
    int32_t *id;
    size_t count, capacity;
} clf_id_list;

clf_status clfi_id_list_append(clf_id_list *list, int32_t id);

typedef struct clf_token_model_kind {
    const char *name; /* as "type" in tokenizer.json */

    /* Reads the "model" object of a tokenizer.json. `where` comes first in messages. On failure *out is untouched. */
    clf_status (*read)(const json_t *json, const char *where, void **out);
    void (*destroy)(void *model);

    /* Appends the ids of one word, which is not empty. */
    clf_status (*encode)(const void *model, const char *word, size_t size, clf_id_list *ids);
    const clf_vocabulary *(*vocabulary)(const void *model);
} clf_token_model_kind;

/* The kind by name, NULL when there is none. */
const clf_token_model_kind *clfi_token_model_find(const char *name);

/* Names of all kinds, for messages. */
const char *clfi_token_model_names(void);

extern const clf_token_model_kind clfi_wordpiece_kind;

#endif
