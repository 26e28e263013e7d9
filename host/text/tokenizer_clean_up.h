/* SPDX-License-Identifier: MIT */
/* "clean_up_tokenization_spaces" of tokenizer_config.json. */
#ifndef CLFI_TEXT_TOKENIZER_CLEAN_UP_H
#define CLFI_TEXT_TOKENIZER_CLEAN_UP_H

#include <jansson.h>

#include "text/tokenizer_parts.h"

/* Adds to the tokenizer's decoders what the key asks for: "it 's here ." becomes "it's here.". transformers 5 leaves the texts of BPE as
 * they are unless a second key insists. A text comes as a whole then, not token by token. FORMAT: a key is no boolean; OUT_OF_MEMORY. */
clf_status clfi_tokenizer_clean_up(const json_t *config, const char *name, clf_tokenizer *tokenizer);

#endif
