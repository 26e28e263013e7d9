/* SPDX-License-Identifier: MIT */
/* Follows "clean_up_tokenization_spaces" of tokenizer_config.json. */
#ifndef CLFI_TEXT_TOKENIZER_CLEAN_UP_H
#define CLFI_TEXT_TOKENIZER_CLEAN_UP_H

#include <jansson.h>

#include "text/tokenizer_parts.h"

/* Adds to the tokenizer's decoders what the key asks for: "it 's here ." becomes "it's here.". For BPE this needs a second key, as in
 * transformers 5. Decoding then writes a text as a whole at its end, not token by token. FORMAT: a key is neither true nor false.
 * OUT_OF_MEMORY. */
clf_status clfi_tokenizer_clean_up(const json_t *config, const char *name, clf_tokenizer *tokenizer);

#endif
