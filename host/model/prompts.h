/* SPDX-License-Identifier: MIT */
/* Prompts of config_sentence_transformers.json: texts that a model wants before those that it embeds. */
#ifndef CLFI_MODEL_PROMPTS_H
#define CLFI_MODEL_PROMPTS_H

#include <stddef.h>

#include "base/status.h"

typedef struct clf_prompts {
    size_t count;
    char **name, **text;  /* owned */
    const char *standard; /* one of the names: what is used where a caller names none; NULL: none */
} clf_prompts;

/* No such file: none. FORMAT: it is broken, or its default_prompt_name is not among its prompts. */
clf_status clfi_prompts_read(const char *directory, clf_prompts *out);
void clfi_prompts_free(clf_prompts *prompts);

/* The text of that name; NULL: there is none. */
const char *clfi_prompts_find(const clf_prompts *prompts, const char *name);

#endif
