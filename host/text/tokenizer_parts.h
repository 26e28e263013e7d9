/* SPDX-License-Identifier: MIT */
/* The parts of a tokenizer, for the readers that build one and for the encoder. */
#ifndef CLFI_TEXT_TOKENIZER_PARTS_H
#define CLFI_TEXT_TOKENIZER_PARTS_H

#include "text/added_tokens.h"
#include "text/chain.h"
#include "text/post_processor.h"
#include "text/token_model.h"
#include "text/tokenizer.h"

/* Places where a long text may be split into portions that are encoded one by one, with the same tokens as the whole text. */
typedef enum clf_portions {
    CLF_PORTIONS_NONE,
    CLF_PORTIONS_BEHIND_SPACES, /* after an ASCII space or line end */
    CLF_PORTIONS_BEFORE_SPACES  /* before a space between two ASCII letters or digits */
} clf_portions;

struct clf_tokenizer {
    clf_chain normalizers, pre_tokenizers, decoders;
    bool has_decoder; /* false: decoding puts spaces between tokens */
    const clf_token_model_kind *kind;
    void *model;
    clf_added_tokens added;
    clf_post_processor post_processor;
    clf_portions portions;
    int32_t *special_ids; /* sorted */
    size_t special_count;
    int32_t roles[CLF_TOKEN_ROLE_COUNT];
    bool needs_spans;    /* a pre-tokenizer needs the offset of each piece in the caller's text */
    bool cuts_left;      /* truncation drops the first tokens of a text, not the last */
    bool assumes_cut;    /* the vocabulary names no pre-tokenizer, so the default one splits texts */
    bool has_languages;  /* a text, or the text after an added token, may begin with a language, ">>fra<<"; an unknown one is <unk> */
    bool splits_special; /* special tokens that are written in a text are always treated as ordinary text */
    json_t *variables;   /* source of clfi_tokenizer_variables; NULL: the tokens of the roles */
    json_t *chat_tokens; /* result of clfi_tokenizer_chat_tokens */
    json_t *absent;      /* tokens that the vocabulary lacks (absent_tokens.h): {token: "<file>: <key>" that names it}; NULL: none */
    char *pipeline;      /* transformers 5's class whose parts replace tokenizer.json's; NULL: the file's own parts */
};

/* Creates a tokenizer without parts and roles; release it with clf_tokenizer_destroy. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_create(clf_tokenizer **out);

/* Reads the parts that tokenizer.json (`root`) names "normalizer", "pre_tokenizer", "post_processor" and "decoder"; missing ones are
 * skipped. */
clf_status clfi_tokenizer_read_chains(const json_t *root, const char *name, clf_tokenizer *tokenizer);

/* Adds a token as Hugging Face's `tokenizers` does. It gets the id of an equal token of the model, else the next free id after the
 * vocabulary. The caller sets the model first; token->id is ignored. want_id: the id that a file states; -1: none. FORMAT: the token's id
 * differs from want_id, or the next id is taken. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_add_token(clf_tokenizer *tokenizer, const clf_added_token *token, int64_t want_id, const char *where);

/* Reads the parts of a directory's tokenizer in tokenizer.json's form. They are those of the file, changed by tokenizer_config.json and the
 * tokenizer's class, or made from an older tokenizer's files. *out: release it with json_decref; NULL: the tokenizer has files of another
 * form. Statuses as clf_tokenizer_open. */
clf_status clfi_tokenizer_read_root(const char *directory, json_t **out);

/* The key of each role in tokenizer_config.json: "bos_token" ... */
extern const char *const clfi_token_role_keys[CLF_TOKEN_ROLE_COUNT];

/* The content of a role's value, which is a string or an object with "content"; NULL: neither. */
const char *clfi_named_content(const json_t *value);

/* Whether the configuration gives the token a role, such as bos_token. */
bool clfi_named_is_role(const json_t *config, const char *content);

/* Adds, as transformers does, the tokens that tokenizer_config.json (an object) names and tokenizer.json did not add: first those of
 * added_tokens_decoder, then, as special tokens, those of the roles, of additional_special_tokens and of extra_special_tokens. Tokens that
 * the vocabulary lacks are skipped, because the model has no row for their new ids. */
clf_status clfi_tokenizer_add_named(const json_t *config, const char *name, clf_tokenizer *tokenizer);

/* Last step of a reader: prepares the search for added tokens, decides where long texts may be split (portions), and checks that the
 * templates' ids exist. Messages begin with `where`. */
clf_status clfi_tokenizer_finish(clf_tokenizer *tokenizer, const char *where);

#endif
