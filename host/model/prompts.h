/* SPDX-License-Identifier: MIT */
/* Reads the prompts of config_sentence_transformers.json: texts that a model expects before the texts that it embeds. */
#ifndef CLFI_MODEL_PROMPTS_H
#define CLFI_MODEL_PROMPTS_H

#include <jansson.h>
#include <stddef.h>

#include "base/status.h"

typedef struct clf_prompts {
    size_t count;
    char **name, **text;  /* owned; in the file's order */
    size_t *by_name;      /* [count]: indices of the prompts, sorted by name */
    const char *standard; /* one of the names: the prompt that is used if a caller names none; NULL: none */
} clf_prompts;

/* Reads prompts and default_prompt_name. file: its name, for messages. FORMAT: keys of another type, or default_prompt_name is not among
 * the prompts. */
clf_status clfi_prompts_read(const json_t *json, const char *file, clf_prompts *out);
void clfi_prompts_free(clf_prompts *prompts);

/* The text of that name; NULL: there is none. */
const char *clfi_prompts_find(const clf_prompts *prompts, const char *name);

#endif
