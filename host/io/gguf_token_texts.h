/* SPDX-License-Identifier: MIT */
/* Finds out from the texts of a GGUF file's tokens what they are for, such as ending a text. The file's keys name only one end-of-text
 * token and perhaps an end-of-turn and an end-of-message token. Other end tokens are recognised by their text, with the lists of
 * llama.cpp. */
#ifndef CLFI_IO_GGUF_TOKEN_TEXTS_H
#define CLFI_IO_GGUF_TOKEN_TEXTS_H

#include <stdbool.h>

#include "io/gguf.h"

typedef enum clf_gguf_token_use {
    CLF_GGUF_TOKEN_PLAIN,     /* neither a key nor its text says anything: its token type counts */
    CLF_GGUF_TOKEN_NAMED_END, /* a key says that it ends texts */
    CLF_GGUF_TOKEN_SHOWN_END, /* both of this and of CLF_GGUF_TOKEN_USER */
    CLF_GGUF_TOKEN_ENDS,      /* its text says that it ends texts: a control token, whatever its token type */
    CLF_GGUF_TOKEN_CONTROL,   /* its text says that it is a control token, whatever its token type */
    CLF_GGUF_TOKEN_USER,      /* a special token that is recognised in input and printed */
    CLF_GGUF_TOKEN_NORMAL     /* ordinary text, whatever its token type */
} clf_gguf_token_use;

/* Ids of the tokens that the file's keys name; -1: no key. */
typedef struct clf_gguf_named_tokens {
    int32_t eos, end_of_turn, end_of_message;
    int32_t fill_prefix, fill_suffix, fill_middle, fill_pad, fill_repository, fill_separator;
} clf_gguf_named_tokens;

/* Reads the keys. FORMAT: a value is not an id, or an id of eos, end_of_turn or end_of_message is outside the vocabulary. */
clf_status clfi_gguf_named_tokens(const clf_gguf *file, clf_gguf_named_tokens *out);

/* uses[i]: the clf_gguf_token_use of tokens[i], for i below count. Ids in `named` from `count` on are ignored. */
void clfi_gguf_token_uses(const clf_gguf_string *tokens, size_t count, const clf_gguf_named_tokens *named, unsigned char *uses);

/* The tokens that end a text: first eos, end_of_turn and end_of_message, then the others by id. Without a list of tokens in the file,
 * only those that keys name. The caller frees *out. FORMAT as above; OUT_OF_MEMORY. */
clf_status clfi_gguf_end_tokens(const clf_gguf *file, int32_t **out, size_t *out_count);

#endif
