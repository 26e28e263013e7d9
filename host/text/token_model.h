/* SPDX-License-Identifier: MIT */
/* Kinds of tokenizer models: how one pre-tokenized word becomes ids. Each kind is a file of its own and a row of token_model.c. */
#ifndef CLFI_TEXT_TOKEN_MODEL_H
#define CLFI_TEXT_TOKEN_MODEL_H

#include <jansson.h>
#include <stddef.h>

#include "base/status.h"
#include "text/chain.h"
#include "text/text_workspace.h"
#include "text/vocabulary.h"

typedef struct clf_token_model_kind {
    clf_part_kind part; /* first; a model always has settings */

    /* Appends the tokens of one word, which is not empty; their byte offsets count from the word's start. */
    clf_status (*encode)(const void *model, const char *word, size_t size, clf_text_workspace *work, clf_token_list *tokens);
    const clf_vocabulary *(*vocabulary)(const void *model);
} clf_token_model_kind;

extern const clf_part_table clfi_token_models;

/* Gives the scores of a Unigram model in tokenizer.json the values that `tokenizers` reads from that text. One in eight differs from the
 * nearest double in its last bit, which decides between ways that are equally good. Other models stay as they are. */
void clfi_unigram_read_as_tokenizers(json_t *root);

/* The rows, one file each. */
extern const clf_token_model_kind clfi_wordpiece_kind, clfi_bpe_kind, clfi_unigram_kind;

#endif
