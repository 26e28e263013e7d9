/* SPDX-License-Identifier: MIT */
/* Tokenizers: text to token ids, identical to Hugging Face's `tokenizers` on the same files. */
#ifndef CLFI_TEXT_TOKENIZER_H
#define CLFI_TEXT_TOKENIZER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "clformer/tokenizer.h"

/* The choices of clf_encode_params, for callers inside. */
typedef struct clf_encode_options {
    bool add_special_tokens;
    size_t max_tokens;
    bool ignore_special;
    clf_offset_unit offsets;
    bool ignore_added;    /* added tokens written in the text, special or not, are text like any other */
    size_t enough_tokens; /* the caller refuses a text with this many tokens. It is read until it has them, which need not be right; the
                           * rest stays unread. 0: no such limit */
    bool repeats_first;   /* of a pair: the first text is that of the encoding's last call, whose tokens are used again */
} clf_encode_options;

#define CLF_ENCODE_OPTIONS_INIT    \
    {                              \
        .add_special_tokens = true \
    }
#define CLF_ENCODING_INIT \
    {                     \
        0                 \
    }

/* Frees the memory of an encoding that is the caller's own variable, and makes it empty. */
void clfi_encoding_free(clf_encoding *encoding);

/* Make a tokenizer from the text of a tokenizer.json, or from BERT's vocab.txt and its tokenizer_config.json, as text or parsed. The names
 * are for messages; `config` may be NULL. FORMAT, UNSUPPORTED, OUT_OF_MEMORY. */
clf_status clfi_tokenizer_from_json(const char *text, size_t size, const char *name, clf_tokenizer **out);
clf_status clfi_tokenizer_from_vocabulary(const char *text, size_t size, const char *name, const char *config, size_t config_size,
                                          const char *config_name, clf_tokenizer **out);
clf_status clfi_tokenizer_from_vocabulary_parts(const char *text, size_t size, const char *name, const json_t *config,
                                                const char *config_name, clf_tokenizer **out);

/* Makes a tokenizer from what tokenizer.json holds (root), parsed or made. In a Unigram model a token's score may be null: then no text is
 * divided into that token. config: tokenizer_config.json, whose special tokens become added tokens; NULL: none. */
clf_status clfi_tokenizer_from_parts(const json_t *root, const char *name, const json_t *config, const char *config_name,
                                     clf_tokenizer **out);

/* Whether sentence_bert_config.json asks for Lowercase before the tokenizer's own normalizers. FORMAT, IO, OUT_OF_MEMORY. */
clf_status clfi_tokenizer_lowers(const char *directory, bool *out);

/* Receives one token after another. */
typedef clf_status (*clf_token_sink)(void *user, int32_t id);

/* Hands the tokens of a text to `sink` one by one: those of clf_tokenizer_encode, special ones around the text included. It keeps no list
 * of all of them: if the tokenizer splits texts between words, its memory does not grow with the text. memory: only its working memory is
 * used. options->max_tokens, enough_tokens and offsets are ignored. Statuses as clf_tokenizer_encode, and those of the sink. */
clf_status clfi_tokenizer_stream(const clf_tokenizer *tokenizer, const clf_text *text, const clf_encode_options *options,
                                 clf_encoding *memory, clf_token_sink sink, void *user);

/* The special tokens that a chat template sees as variables, {"bos_token": "<s>", ...}: those of the roles and a model's own, as
 * transformers' special_tokens_map. Release with json_decref. OUT_OF_MEMORY. */
clf_status clfi_tokenizer_variables(const clf_tokenizer *tokenizer, json_t **out);

/* chat_control_tokens of tokenizer_config.json: the added tokens that are control tokens of chats beside the special ones. NULL: it has no
 * such list. Borrowed. */
const json_t *clfi_tokenizer_chat_tokens(const clf_tokenizer *tokenizer);

/* The i-th added token (special or not) and its size in bytes; NULL: there are fewer. Borrowed. */
const char *clfi_tokenizer_added(const clf_tokenizer *tokenizer, size_t i, size_t *size, bool *is_special, int32_t *id);

/* clf_tokenizer_encode for callers inside. pair NULL: none. */
clf_status clfi_tokenizer_encode(const clf_tokenizer *tokenizer, const char *text, size_t size, const char *pair, size_t pair_size,
                                 const clf_encode_options *options, clf_encoding *out);

#endif
