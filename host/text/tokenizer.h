/* SPDX-License-Identifier: MIT */
/* Tokenizers: text to token ids, identical to Hugging Face's `tokenizers` on the same files. */
#ifndef CLFI_TEXT_TOKENIZER_H
#define CLFI_TEXT_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct clf_tokenizer clf_tokenizer;

typedef struct clf_encode_options {
    bool add_special_tokens; /* put the model's special tokens around the text */
    size_t max_tokens;       /* cut the text so that no more come out, special ones included; 0 = no limit */
} clf_encode_options;

#define CLF_ENCODE_OPTIONS_INIT {true, 0}

/* Result of an encoding. Reusable: the arrays grow when needed and are kept from call to call. */
typedef struct clf_encoding {
    int32_t *ids;      /* [length] */
    int32_t *type_ids; /* [length]: which sequence, as the template says */
    size_t length;
    size_t capacity;
    bool truncated;                   /* max_tokens cut something off */
    struct clf_encode_workspace *workspace; /* working memory of the tokenizer */
} clf_encoding;

#define CLF_ENCODING_INIT {NULL, NULL, 0, 0, false, NULL}

void clfi_encoding_free(clf_encoding *encoding);

/* Opens the tokenizer of a model directory: tokenizer.json, or without one vocab.txt with tokenizer_config.json if that is there.
 * Truncation and padding that a file asks for are not applied. NOT_FOUND: neither file. UNSUPPORTED: a type of model, normaliser,
 * pre-tokenizer or post-processor that is not built in, named. FORMAT: a broken file. The caller destroys *out. */
clf_status clfi_tokenizer_open(const char *directory, clf_tokenizer **out);

/* The same from the contents of the files. `name` is used in messages; `config` may be NULL. */
clf_status clfi_tokenizer_from_json(const char *text, size_t size, const char *name, clf_tokenizer **out);
clf_status clfi_tokenizer_from_vocabulary(const char *text, size_t size, const char *name, const char *config, size_t config_size,
                                          const char *config_name, clf_tokenizer **out);

void clfi_tokenizer_destroy(clf_tokenizer *tokenizer);

/* Encodes text[0..size), or with `pair` the two together. Any bytes may come, U+0000 too; each ill-formed part of UTF-8 (maximal
 * subpart, Unicode 3.9) counts as U+FFFD. Special tokens written in the text are recognised. With max_tokens a single text loses its
 * end, a pair the end of its longer part. options NULL: the defaults. Several threads may use one tokenizer, each with its own encoding.
 * INVALID_ARGUMENT: max_tokens leaves no room for the special tokens. */
clf_status clfi_tokenizer_encode(const clf_tokenizer *tokenizer, const char *text, size_t size, const char *pair, size_t pair_size,
                                 const clf_encode_options *options, clf_encoding *out);

/* Text of an id, NULL where there is none. Borrowed. */
const char *clfi_tokenizer_token(const clf_tokenizer *tokenizer, int32_t id);

/* Id of a token, -1 when absent. */
int32_t clfi_tokenizer_id(const clf_tokenizer *tokenizer, const char *token);

/* Highest id + 1, added tokens included: every id that an encoding holds is below it. */
size_t clfi_tokenizer_vocabulary_size(const clf_tokenizer *tokenizer);

/* Special tokens that the single or pair template adds. */
size_t clfi_tokenizer_added_count(const clf_tokenizer *tokenizer, bool pair);

#endif
