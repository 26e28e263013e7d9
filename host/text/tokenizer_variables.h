/* SPDX-License-Identifier: MIT */
/* Collects special tokens under the names by which chat templates know them. */
#ifndef CLFI_TEXT_TOKENIZER_VARIABLES_H
#define CLFI_TEXT_TOKENIZER_VARIABLES_H

#include <jansson.h>

#include "base/status.h"

/* Makes transformers' special_tokens_map for a tokenizer_config.json (NULL: none) of this class. It holds the
 * tokens of the roles (bos_token, ...). If the file has no key for a role, the class's default token fills it; a null means no token. It
 * also holds each other key NAME_token that is a string or an AddedToken, and the tokens of the objects additional_special_tokens,
 * extra_special_tokens and model_specific_special_tokens. Release *out with json_decref. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_read_variables(const json_t *config, const char *class_name, json_t **out);

#endif
