/* SPDX-License-Identifier: MIT */
/* Finds the uses of a GGUF file's tokens by their texts. The file's keys name one end of text and perhaps one end of a turn. Readers know
 * the other ends by their spelling alone, as llama.cpp does. */
#ifndef CLFI_IO_GGUF_TOKEN_TEXTS_H
#define CLFI_IO_GGUF_TOKEN_TEXTS_H

#include <stdbool.h>

#include "io/gguf.h"

typedef enum clf_gguf_token_use {
    CLF_GGUF_TOKEN_PLAIN,     /* nothing says more than its type */
    CLF_GGUF_TOKEN_NAMED_END, /* a key says that it ends a text */
    CLF_GGUF_TOKEN_ENDS,      /* its text says so: a control token, whatever its type */
    CLF_GGUF_TOKEN_CONTROL,   /* a control token, whatever its type */
    CLF_GGUF_TOKEN_USER,      /* recognised in the raw text, and printed */
    CLF_GGUF_TOKEN_NORMAL     /* a piece of text like any other, whatever its type */
} clf_gguf_token_use;

/* Tokens that keys name; -1: none. */
typedef struct clf_gguf_named_tokens {
    int32_t eos, end_of_turn, end_of_message;
    int32_t fill_prefix, fill_suffix, fill_middle, fill_pad, fill_repository, fill_separator;
} clf_gguf_named_tokens;

/* The file's keys. FORMAT: a key that is no id, an end of text outside the vocabulary. */
clf_status clfi_gguf_named_tokens(const clf_gguf *file, clf_gguf_named_tokens *out);

/* uses[i]: the clf_gguf_token_use of tokens[i]. Named ids from `count` on are ignored. */
void clfi_gguf_token_uses(const clf_gguf_string *tokens, size_t count, const clf_gguf_named_tokens *named, unsigned char *uses);

/* The tokens that end a text: those that eos, end of turn and end of message name, then the others by id. The caller frees *out. A file
 * without tokens has those of its keys. Statuses as above; OUT_OF_MEMORY. */
clf_status clfi_gguf_end_tokens(const clf_gguf *file, int32_t **out, size_t *out_count);

#endif
