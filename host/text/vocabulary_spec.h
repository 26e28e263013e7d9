/* SPDX-License-Identifier: MIT */
/* Makes tokenizers from a vocabulary and settings, for callers inside the library. */
#ifndef CLFI_TEXT_VOCABULARY_SPEC_H
#define CLFI_TEXT_VOCABULARY_SPEC_H

#include <stdbool.h>

#include "clformer/tokenizer.h"

/* Says which tokens, if they are found in a text, include the ASCII white space next to them (lstrip and rstrip of transformers), and what
 * becomes of bytes without a token. */
typedef struct clf_token_strips {
    const char *before; /* text of the token that includes the white space before it; NULL: no token does */
    bool is_behind;     /* all tokens but <unk>, <s> and <|endoftext|> include the white space after them */
    bool drops_first;   /* gpt2: bytes without a token are dropped before merging, as by tokenizer.json; else after it, as by llama.cpp */
} clf_token_strips;

/* Like clf_tokenizer_from_vocabulary, with these strips; all members of `spec` are read. */
clf_status clfi_tokenizer_from_spec(const clf_vocabulary_spec *spec, const clf_token_strips *strips, const char *name, clf_tokenizer **out);

#endif
