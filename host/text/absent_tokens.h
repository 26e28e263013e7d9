/* SPDX-License-Identifier: MIT */
/* Finds the tokens that tokenizer_config.json names and the vocabulary lacks, and refuses texts that hold one. transformers gives such a
 * token a new id after the vocabulary, for which a model has no trained row. */
#ifndef CLFI_TEXT_ABSENT_TOKENS_H
#define CLFI_TEXT_ABSENT_TOKENS_H

#include <jansson.h>

#include "text/tokenizer_parts.h"

/* Records in tokenizer->absent each token that `config` names and the vocabulary lacks: under keys that end in "_token", and in the lists
 * of special and added tokens. config: tokenizer_config.json; NULL: none. name: of this file, for messages. OUT_OF_MEMORY. */
clf_status clfi_absent_tokens_read(const json_t *config, const char *name, clf_tokenizer *tokenizer);

/* Records one token, which `key` of the file `name` lists, unless the vocabulary has it. OUT_OF_MEMORY. */
clf_status clfi_absent_tokens_add(const char *content, const char *name, const char *key, clf_tokenizer *tokenizer);

/* Looks for absent tokens that begin in bytes [start, end) of text[0..size); they may end after `end`. UNSUPPORTED: there is one. */
clf_status clfi_absent_tokens_check(const clf_tokenizer *tokenizer, const char *text, size_t start, size_t end, size_t size);

#endif
