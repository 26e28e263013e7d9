/* SPDX-License-Identifier: MIT */
/* Builds the parts by which transformers 5's tokenizer classes replace those of tokenizer.json.
 *
 * pipelines.json lists these classes. Their "names" are without "Fast". "standards" are defaults for keys that tokenizer_config.json lacks
 * (with "null_is_standard" also for flags that are null there). "parts" have tokenizer.json's form; if they have no "post_processor", the
 * file's stays. In the parts "@key" stands for the value of that key (of a token its text) and "#key" for the token's id. There are also:
 *   @charsmap   the Precompiled normalizer of tokenizer.json, or null
 *   @always     "always" if add_prefix_space, else "never"; @first: "first" instead; @llama: "first", or "always" where legacy is true
 *   @strip      the decoder that drops the space which add_prefix_space put before a text; no part without it
 *   @unk_index  the place of unk_token in the vocabulary, else 0
 * "missing" are classes with such a pipeline that is not supported. "stored" are model types whose tokenizer.json is used as it is.
 * "corrected" are model types whose files name a wrong class, with the right one. "types" are the classes of model types whose files name
 * none. */
#ifndef CLFI_TEXT_TOKENIZER_PIPELINE_H
#define CLFI_TEXT_TOKENIZER_PIPELINE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* The rows; *out: release it with json_decref. OUT_OF_MEMORY. */
clf_status clfi_pipelines_read(json_t **out);

/* The row of a class, borrowed from the rows; NULL: none. */
const json_t *clfi_pipeline_find(const json_t *rows, const char *name);

/* Whether an array of strings has the name; false for NULL. */
bool clfi_pipeline_lists(const json_t *list, const char *name);

/* Puts a class's parts into `root`, and its defaults into `config`. If `config` lists added tokens (is_listed), they replace root's. `path`
 * and `config_path` go before messages. FORMAT: a flag is neither true nor false, or a token is not in the vocabulary. UNSUPPORTED: the
 * class cannot use the file's vocabulary. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_pipeline_put(const char *class_name, json_t *config, const char *config_path, bool is_listed, json_t *root,
                                       const char *path);

#endif
