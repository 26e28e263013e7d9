/* SPDX-License-Identifier: MIT */
/* Builds the parts that transformers 5's tokenizer classes have in the place of tokenizer.json's.
 *
 * pipelines.json lists these classes. Their "names" are without "Fast". "standards" are keys that tokenizer_config.json has where it does
 * not say ("null_is_standard": also where add_prefix_space is null). "parts" have tokenizer.json's form; a class without "post_processor"
 * leaves the file's. In the parts "@key" stands for the value of that key (of a token its text) and "#key" for the token's id, beside
 *   @charsmap   the Precompiled normalizer of tokenizer.json, or null
 *   @always     "always" if add_prefix_space, else "never"; @first: "first" instead; @llama: "first", or "always" where legacy is true
 *   @strip      the decoder that drops the space which add_prefix_space put before a text; no part without it
 *   @unk_index  the place of unk_token in the vocabulary, else 0
 * "missing" are classes with such a pipeline that is not supported. "stored" are the model types whose tokenizer.json is taken as it is,
 * "corrected" those whose class is another one than their files name, "types" the classes of those whose files name none. */
#ifndef CLFI_TEXT_TOKENIZER_PIPELINE_H
#define CLFI_TEXT_TOKENIZER_PIPELINE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* The rows; *out: release it with json_decref. OUT_OF_MEMORY. */
clf_status clfi_pipelines_read(json_t **out);

/* The row of a class, borrowed from the rows; NULL: none. */
const json_t *clfi_pipeline_find(const json_t *rows, const char *name);

/* Whether an array of texts has the name; a name that is NULL is in none. */
bool clfi_pipeline_lists(const json_t *list, const char *name);

/* Puts a class's parts into `root`, and its standards into `config`. Where `config` lists added tokens (is_listed), they take the place of
 * root's. `path` and `config_path` go before messages. FORMAT: a flag is no boolean, a token is not in the vocabulary. UNSUPPORTED: a
 * vocabulary that the class does not take. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_pipeline_put(const char *class_name, json_t *config, const char *config_path, bool is_listed, json_t *root,
                                       const char *path);

#endif
