/* SPDX-License-Identifier: MIT */
/* The parts of a tokenizer, for the readers that build one and for the encoder. */
#ifndef CLFI_TEXT_TOKENIZER_PARTS_H
#define CLFI_TEXT_TOKENIZER_PARTS_H

#include "text/added_tokens.h"
#include "text/chain.h"
#include "text/post_processor.h"
#include "text/token_model.h"
#include "text/tokenizer.h"

/* Places where a long text may be cut into portions whose tokens together are those of the whole text. */
typedef enum clf_portions {
    CLF_PORTIONS_NONE,
    CLF_PORTIONS_BEHIND_SPACES, /* behind an ASCII space or line end */
    CLF_PORTIONS_BEFORE_SPACES  /* before a space between two ASCII letters or digits */
} clf_portions;

struct clf_tokenizer {
    clf_chain normalizers, pre_tokenizers, decoders;
    bool has_decoder; /* without one, decoding puts spaces between tokens */
    const clf_token_model_kind *kind;
    void *model;
    clf_added_tokens added;
    clf_post_processor post_processor;
    clf_portions portions;
    int32_t *special_ids; /* sorted */
    size_t special_count;
    int32_t roles[CLF_TOKEN_ROLE_COUNT];
    bool needs_spans;    /* a part needs to know where its piece begins in the given text */
    bool cuts_left;      /* a longer text loses its first tokens, not its last */
    bool assumes_cut;    /* the vocabulary does not say how a text is cut */
    bool has_languages;  /* a text, also one behind an added token, may begin with a language, ">>fra<<"; an unknown one is <unk> */
    bool splits_special; /* special tokens written in a text are always text like any other */
    json_t *variables;   /* clfi_tokenizer_variables; NULL: those of the roles */
    json_t *chat_tokens; /* clfi_tokenizer_chat_tokens */
    json_t *absent;      /* of absent_tokens.h: {token: who names it}; NULL: none */
    char *pipeline;      /* transformers 5's class whose parts replace tokenizer.json's; NULL: the file's own parts */
};

/* Creates a tokenizer without parts and roles; release it with clf_tokenizer_destroy. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_create(clf_tokenizer **out);

/* Reads the parts that tokenizer.json names "normalizer", "pre_tokenizer", "post_processor" and "decoder"; a missing one does nothing. */
clf_status clfi_tokenizer_read_chains(const json_t *root, const char *name, clf_tokenizer *tokenizer);

/* Adds a token as Hugging Face's `tokenizers` does: it has the id of an equal token of the model, else the next free one behind the
 * vocabulary. The model must be there; token->id is not read. FORMAT: want_id >= 0 and the id would be another, or the next id is taken.
 * OUT_OF_MEMORY. */
clf_status clfi_tokenizer_add_token(clf_tokenizer *tokenizer, const clf_added_token *token, int64_t want_id, const char *where);

/* Reads the parts by which a directory's texts are cut, in tokenizer.json's form. They are those of the file, changed by
 * tokenizer_config.json and the tokenizer's class, or made from an older tokenizer's files. *out: release it with json_decref; NULL: the
 * tokenizer has files of another form. Statuses as clf_tokenizer_open. */
clf_status clfi_tokenizer_read_root(const char *directory, json_t **out);

/* The key of each role in tokenizer_config.json: "bos_token" ... */
extern const char *const clfi_token_role_keys[CLF_TOKEN_ROLE_COUNT];

/* The content of such a key's value, which is a string or an object with "content"; NULL: neither. */
const char *clfi_named_content(const json_t *value);

/* Whether the configuration gives the token a role, such as bos_token. */
bool clfi_named_is_role(const json_t *config, const char *content);

/* Adds, as transformers does, the tokens that tokenizer_config.json (an object) names and tokenizer.json did not add. Those of
 * added_tokens_decoder come first, then as special ones those of the roles, of additional_special_tokens and of extra_special_tokens. A
 * token that the vocabulary lacks is left out: the model has no row for the id that it would get. */
clf_status clfi_tokenizer_add_named(const json_t *config, const char *name, clf_tokenizer *tokenizer);

/* Last step of a reader: prepares the search for added tokens, finds out how long texts may be cut, and checks that the templates' ids
 * exist. `where` comes first in messages. */
clf_status clfi_tokenizer_finish(clf_tokenizer *tokenizer, const char *where);

#endif
