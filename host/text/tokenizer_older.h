/* SPDX-License-Identifier: MIT */
/* Files that transformers wrote beside tokenizer_config.json before its "added_tokens_decoder". */
#ifndef CLFI_TEXT_TOKENIZER_OLDER_H
#define CLFI_TEXT_TOKENIZER_OLDER_H

#include <jansson.h>

#include "clformer/status.h"

/* Puts into *config, tokenizer_config.json's object, what the directory's special_tokens_map.json and added_tokens.json say, as
 * transformers does: the special tokens in place of the configuration's, the added tokens as its "added_tokens_decoder". Where it has that
 * key itself, the older files do not count. *config NULL: there is no configuration; one is made where there is such a file, and
 * *out_path, which the caller frees, is that file's. FORMAT, IO, OUT_OF_MEMORY. */
clf_status clfi_tokenizer_read_older(const char *directory, json_t **config, char **out_path);

#endif
