/* SPDX-License-Identifier: MIT */
/* The software that made a tokenizer's files, and the class that it cuts texts with.
 *
 * transformers 4 reads tokenizer.json as it is, but for a few keys of tokenizer_config.json (tokenizer_class.h). transformers 5 takes the
 * vocabulary, the merges and the added tokens alone from it where the class has a pipeline of its own (tokenizer_pipeline.h). The same
 * files give other tokens, so the version that made them decides. */
#ifndef CLFI_TEXT_TOKENIZER_SOFTWARE_H
#define CLFI_TEXT_TOKENIZER_SOFTWARE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* Whether transformers 5 or later made the files: by transformers_version of config.json, else of config_sentence_transformers.json, else
 * by "backend" in tokenizer_config.json (`config`; NULL: none), which older ones do not write. FORMAT, IO: one of these files is broken. */
clf_status clfi_tokenizer_is_of_five(const char *directory, const json_t *config, bool *out);

/* The class whose pipeline transformers 5 builds, by the rules of its AutoTokenizer: tokenizer_class of tokenizer_config.json, else of
 * config.json, else the one of config.json's model_type, which also overrules some. *out: newly allocated, which the caller frees; NULL:
 * tokenizer.json (`root`) is taken as it is. It is so, too, where it lies alone: without tokenizer_config.json and a class in config.json
 * nothing else tells how texts are cut. UNSUPPORTED: a class that is not supported. FORMAT, IO: config.json. */
clf_status clfi_tokenizer_pipeline_class(const char *directory, const json_t *config, const json_t *root, char **out);

#endif
