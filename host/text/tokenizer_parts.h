/* SPDX-License-Identifier: MIT */
/* What a tokenizer consists of; for the readers that put one together and for the encoder. */
#ifndef CLFI_TEXT_TOKENIZER_PARTS_H
#define CLFI_TEXT_TOKENIZER_PARTS_H

#include "text/added_tokens.h"
#include "text/normalizer_bert.h"
#include "text/post_processor.h"
#include "text/token_model.h"
#include "text/tokenizer.h"

struct clf_tokenizer {
    const clf_token_model_kind *kind;
    void *model;
    clf_normalizer_bert normalizer;
    clf_added_tokens added;
    clf_post_processor post_processor;
};

clf_status clfi_tokenizer_create(clf_tokenizer **out);

/* Adds a token as HF does: it has the id of an equal token of the model, otherwise the next free one behind the vocabulary.
 * FORMAT: want_id >= 0 and the id would be another. The model must be there. token->id is not read. */
clf_status clfi_tokenizer_add_token(clf_tokenizer *tokenizer, const clf_added_token *token, int64_t want_id, const char *where);

/* Last step of a reader: prepares the search for added tokens and checks that the templates' ids exist. */
clf_status clfi_tokenizer_finish(clf_tokenizer *tokenizer, const char *where);

#endif
