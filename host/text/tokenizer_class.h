/* SPDX-License-Identifier: MIT */
/* Changes that transformers' tokenizer classes make to tokenizer.json by the keys of tokenizer_config.json. */
#ifndef CLFI_TEXT_TOKENIZER_CLASS_H
#define CLFI_TEXT_TOKENIZER_CLASS_H

#include <jansson.h>

#include "clformer/tokenizer.h"

enum { CLFI_TOKENIZER_CLASS_BYTES = 64 };

/* The class as AutoTokenizer looks for it: tokenizer_class of tokenizer_config.json (`config`; NULL: none), else config.json's
 * tokenizer_class or model_type; without "Fast", which the same class had of its own. "": nothing names one. */
clf_status clfi_tokenizer_class_name(const char *directory, const json_t *config, char name[CLFI_TOKENIZER_CLASS_BYTES]);

/* Finds a class; an unknown name gets the plain one. */
typedef struct clf_tokenizer_class clf_tokenizer_class;
const clf_tokenizer_class *clfi_tokenizer_class_find(const char *name);

/* Before tokenizer.json's `root` is read: BERT's classes take do_lower_case, strip_accents and tokenize_chinese_chars in place of its own,
 * absent ones as true, null and true; RoBERTa's take trim_offsets and all add_prefix_space where `config` has them. Classes that read
 * add_bos_token get the bos_token and eos_token that `config` lacks. FORMAT: a key is neither true nor false. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_class_edit(const clf_tokenizer_class *class, json_t *config, const char *name, json_t *root);

/* With the tokenizer's roles known: classes that read add_bos_token and add_eos_token put these tokens around texts in place of what
 * tokenizer.json adds. FORMAT: a text would get a token that the configuration or the vocabulary has not. */
clf_status clfi_tokenizer_class_put_ends(const clf_tokenizer_class *class, const json_t *config, const char *name,
                                         clf_tokenizer *tokenizer);

#endif
