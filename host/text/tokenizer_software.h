/* SPDX-License-Identifier: MIT */
/* Finds out which version of transformers made a tokenizer's files, and by which class it splits texts.
 *
 * transformers 4 uses tokenizer.json as it is, except for a few keys of tokenizer_config.json (tokenizer_class.h). transformers 5 takes
 * only the vocabulary, the merges and the added tokens from it if the class has a pipeline of its own (tokenizer_pipeline.h). The same
 * files then give other tokens, so the version that made them decides. */
#ifndef CLFI_TEXT_TOKENIZER_SOFTWARE_H
#define CLFI_TEXT_TOKENIZER_SOFTWARE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* Whether transformers 5 or later made the files. transformers_version of config.json says so, else that of
 * config_sentence_transformers.json, else the presence of "backend" in tokenizer_config.json (`config`; NULL: none), which older versions
 * do not write. FORMAT, IO: one of these files is broken. */
clf_status clfi_tokenizer_is_of_five(const char *directory, const json_t *config, bool *out);

/* The class whose pipeline transformers 5 builds, by the rules of its AutoTokenizer. It is tokenizer_class of tokenizer_config.json, else
 * of config.json, else the class of config.json's model_type. Some model types overrule the named class. *out: newly allocated, the caller
 * frees it; NULL: tokenizer.json (`root`) is used as it is. That is also so if there is no tokenizer_config.json and config.json names no
 * class. UNSUPPORTED: a class that is not supported. FORMAT, IO: config.json. */
clf_status clfi_tokenizer_pipeline_class(const char *directory, const json_t *config, const json_t *root, char **out);

#endif
