/* SPDX-License-Identifier: MIT */
/* Collects special tokens under the names by which chat templates know them. */
#ifndef CLFI_TEXT_TOKENIZER_VARIABLES_H
#define CLFI_TEXT_TOKENIZER_VARIABLES_H

#include <jansson.h>

#include "base/status.h"

/* Makes transformers' special_tokens_map for a tokenizer_config.json (NULL: none) of this class. It holds the roles; the class's own token
 * fills a role for which the file has no key (a key with null: no token). It also holds each other key NAME_token that is a string or an
 * AddedToken, and the names in extra_special_tokens and model_specific_special_tokens. Release *out with json_decref. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_read_variables(const json_t *config, const char *class_name, json_t **out);

#endif
