/* SPDX-License-Identifier: MIT */
/* Applies the changes that transformers' tokenizer classes make to tokenizer.json by keys of tokenizer_config.json. */
#ifndef CLFI_TEXT_TOKENIZER_CLASS_H
#define CLFI_TEXT_TOKENIZER_CLASS_H

#include <jansson.h>

#include "clformer/tokenizer.h"

enum { CLFI_TOKENIZER_CLASS_BYTES = 64 };

/* The class as AutoTokenizer looks for it: tokenizer_class of tokenizer_config.json (`config`; NULL: none), else config.json's
 * tokenizer_class or model_type. "Fast" at its end is left out. "": nothing names one. FORMAT, IO: config.json. */
clf_status clfi_tokenizer_class_name(const char *directory, const json_t *config, char name[CLFI_TOKENIZER_CLASS_BYTES]);

/* Finds a class by its name or by a model type; unknown names get a class without changes of its own. */
typedef struct clf_tokenizer_class clf_tokenizer_class;
const clf_tokenizer_class *clfi_tokenizer_class_find(const char *name);

/* Changes tokenizer.json's `root` before it is read. BERT's classes replace its flags by do_lower_case, strip_accents and (not MPNet's)
 * tokenize_chinese_chars; if absent, these are true, null and true. If `config` has them, RoBERTa's classes take trim_offsets from it and
 * all classes add_prefix_space. Classes that read add_bos_token get a default bos_token and eos_token in `config`. FORMAT: a key is neither
 * true nor false. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_class_edit(const clf_tokenizer_class *class, json_t *config, const char *name, json_t *root);

/* Call it when the tokenizer's roles are known. In classes that read add_bos_token and add_eos_token, these tokens around texts replace
 * what tokenizer.json adds. FORMAT: the configuration or the vocabulary lacks such a token. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_class_put_ends(const clf_tokenizer_class *class, const json_t *config, const char *name,
                                         clf_tokenizer *tokenizer);

#endif
