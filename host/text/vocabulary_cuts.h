/* SPDX-License-Identifier: MIT */
/* How "gpt2"'s named pre-tokenizers of GGUF files cut a text, and what else goes with a name. */
#ifndef CLFI_TEXT_VOCABULARY_CUTS_H
#define CLFI_TEXT_VOCABULARY_CUTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"

typedef struct clf_vocabulary_cut {
    const char *name;
    const char *parts;  /* "pre_tokenizer" and "decoder" as tokenizer.json has them */
    bool ignore_merges; /* a word that is a token is that token, whatever its merges give */
    bool add_bos;       /* where the file does not say */
} clf_vocabulary_cut;

/* The cut of files that name no pre-tokenizer. */
#define CLFI_VOCABULARY_CUT_DEFAULT "default"

/* The row of a name; NULL: none. Static storage. */
const clf_vocabulary_cut *clfi_vocabulary_cut_find(const char *name);

/* Rows in their order; NULL behind the last. */
const clf_vocabulary_cut *clfi_vocabulary_cut_at(size_t index);

/* The first name whose pre-tokenizer cuts as tokenizer.json's says; NULL: none does. */
const char *clfi_vocabulary_cut_name(const json_t *pre_tokenizer, bool ignore_merges);

/* The names, as "default, gpt-2, ...". */
clf_status clfi_vocabulary_cut_names(clf_str *out);

#endif
