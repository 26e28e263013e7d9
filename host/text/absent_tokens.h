/* SPDX-License-Identifier: MIT */
/* Tokens that tokenizer_config.json names and the vocabulary lacks. transformers gives each a new id behind the vocabulary, for which a
 * model has no trained row; here a text that holds one is refused. */
#ifndef CLFI_TEXT_ABSENT_TOKENS_H
#define CLFI_TEXT_ABSENT_TOKENS_H

#include <jansson.h>

#include "text/tokenizer_parts.h"

/* Collects the absent ones among the keys that end in "_token" and the lists of special tokens. name: of the file, for messages. `config`
 * NULL: none. OUT_OF_MEMORY. */
clf_status clfi_absent_tokens_read(const json_t *config, const char *name, clf_tokenizer *tokenizer);

/* Adds one token, which `key` of the file `name` lists, unless the vocabulary has it. OUT_OF_MEMORY. */
clf_status clfi_absent_tokens_add(const char *content, const char *name, const char *key, clf_tokenizer *tokenizer);

/* Searches text[start..end), tokens that begin in it included. UNSUPPORTED: it holds an absent token. */
clf_status clfi_absent_tokens_check(const clf_tokenizer *tokenizer, const char *text, size_t start, size_t end, size_t size);

#endif
