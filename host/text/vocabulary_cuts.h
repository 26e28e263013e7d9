/* SPDX-License-Identifier: MIT */
/* The named pre-tokenizers of GGUF files with a "gpt2" vocabulary: how each splits a text, and what else its name implies. */
#ifndef CLFI_TEXT_VOCABULARY_CUTS_H
#define CLFI_TEXT_VOCABULARY_CUTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"

typedef struct clf_vocabulary_cut {
    const char *name;
    const char *parts;  /* "pre_tokenizer" and "decoder" as tokenizer.json has them */
    bool ignore_merges; /* a word that is a token becomes that token, whatever its merges give */
    bool add_bos;       /* where the file does not say */
} clf_vocabulary_cut;

/* The pre-tokenizer of files that name none. */
#define CLFI_VOCABULARY_CUT_DEFAULT "default"

/* The row of a name; NULL: none. Static storage. */
const clf_vocabulary_cut *clfi_vocabulary_cut_find(const char *name);

/* The row at `index`; NULL after the last. */
const clf_vocabulary_cut *clfi_vocabulary_cut_at(size_t index);

/* The first row that splits as tokenizer.json's "pre_tokenizer" does and has this ignore_merges: its name. NULL: none, or not enough
 * memory. */
const char *clfi_vocabulary_cut_name(const json_t *pre_tokenizer, bool ignore_merges);

/* Appends the names, as "default, gpt-2, ...". OUT_OF_MEMORY. */
clf_status clfi_vocabulary_cut_names(clf_str *out);

#endif
