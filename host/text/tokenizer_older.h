/* SPDX-License-Identifier: MIT */
/* Reads the files that transformers wrote beside tokenizer_config.json before it had "added_tokens_decoder". */
#ifndef CLFI_TEXT_TOKENIZER_OLDER_H
#define CLFI_TEXT_TOKENIZER_OLDER_H

#include <jansson.h>

#include "clformer/status.h"

/* Puts into *config, tokenizer_config.json's object, what special_tokens_map.json and added_tokens.json say, as transformers does. Special
 * tokens replace the configuration's; added tokens become its "added_tokens_decoder". If the configuration has this key itself, the older
 * files are ignored. *config NULL: there is no configuration. If there is an older file, *config is then created, and *out_path is that
 * file's path, which the caller frees. FORMAT, IO, OUT_OF_MEMORY. */
clf_status clfi_tokenizer_read_older(const char *directory, json_t **config, char **out_path);

#endif
