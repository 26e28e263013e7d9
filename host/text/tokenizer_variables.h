/* SPDX-License-Identifier: MIT */
/* Special tokens by the names under which chat templates know them. */
#ifndef CLFI_TEXT_TOKENIZER_VARIABLES_H
#define CLFI_TEXT_TOKENIZER_VARIABLES_H

#include <jansson.h>

#include "base/status.h"

/* Makes transformers' special_tokens_map for a tokenizer_config.json (NULL: none) of this class. It has the roles, or the class's own
 * tokens where the file has no key for a role (null: no token). It also has each other key NAME_token that is a string or an AddedToken,
 * and the names in extra_special_tokens and model_specific_special_tokens. Release *out with json_decref. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_read_variables(const json_t *config, const char *class_name, json_t **out);

#endif
