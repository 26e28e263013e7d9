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
    bool ignore_added; /* added tokens written in the text, special or not, are text like any other */
} clf_encode_options;

#define CLF_ENCODE_OPTIONS_INIT                 \
    {                                           \
        true, 0, false, CLF_OFFSETS_NONE, false \
    }
#define CLF_ENCODING_INIT \
    {                     \
        0                 \
    }

/* Frees what an encoding of the caller's own holds. */
void clfi_encoding_free(clf_encoding *encoding);

/* clf_tokenizer_from_json with the text's size, and BERT's vocab.txt with its tokenizer_config.json. `name` is used in messages; `config`
 * may be NULL. */
clf_status clfi_tokenizer_from_json(const char *text, size_t size, const char *name, clf_tokenizer **out);
clf_status clfi_tokenizer_from_vocabulary(const char *text, size_t size, const char *name, const char *config, size_t config_size,
                                          const char *config_name, clf_tokenizer **out);
clf_status clfi_tokenizer_from_vocabulary_parts(const char *text, size_t size, const char *name, const json_t *config,
                                                const char *config_name, clf_tokenizer **out);

/* The same from what tokenizer.json holds, parsed or made. A token of a Unigram model may have null for its score: no text is divided into
 * it. config: tokenizer_config.json, whose special tokens become added tokens; NULL: none. */
clf_status clfi_tokenizer_from_parts(const json_t *root, const char *name, const json_t *config, const char *config_name,
                                     clf_tokenizer **out);

/* Whether sentence_bert_config.json puts Lowercase before the tokenizer's own normalizers. FORMAT, IO, OUT_OF_MEMORY. */
clf_status clfi_tokenizer_lowers(const char *directory, bool *out);

/* Takes one token after another. */
typedef clf_status (*clf_token_sink)(void *user, int32_t id);

/* Hands the tokens of a text, special ones around it included, to `sink` one by one, as clf_tokenizer_encode has them. It keeps no list of
 * all of them: where the tokenizer cuts between words its memory does not grow with the text. `memory` works as in clf_tokenizer_encode;
 * its arrays stay as they are. options->max_tokens and offsets do not count. Statuses as there, and those of the sink. */
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
