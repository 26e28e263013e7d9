/* SPDX-License-Identifier: MIT */
/* Tokenizers given by their vocabulary, for callers inside. */
#ifndef CLFI_TEXT_VOCABULARY_SPEC_H
#define CLFI_TEXT_VOCABULARY_SPEC_H

#include <stdbool.h>

#include "clformer/tokenizer.h"

/* ASCII white space that tokens found in a text take along. */
typedef struct clf_token_strips {
    const char *before; /* the token with this text: that before it; NULL: none */
    bool is_behind;     /* all tokens: that behind them, but for <unk>, <s> and <|endoftext|> */
} clf_token_strips;

/* clf_tokenizer_from_vocabulary with that; the specification is whole. */
clf_status clfi_tokenizer_from_spec(const clf_vocabulary_spec *spec, const clf_token_strips *strips, const char *name, clf_tokenizer **out);

#endif
