/* SPDX-License-Identifier: MIT */
/* Tokens and their ids: an open-addressing hash map from bytes to id, and an array from id to text. */
#ifndef CLFI_TEXT_VOCABULARY_H
#define CLFI_TEXT_VOCABULARY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

/* The highest id accepted. The array from id to text has at most 8 entries for each token plus 65,536, so that one huge id in a file does
 * not make a huge array. The array of added tokens may be longer by the size of their model's array. */
enum { CLFI_VOCABULARY_MAX_ID = (1 << 24) - 1 };

typedef struct clf_vocabulary_entry {
    size_t offset; /* into text */
    size_t size;
    int32_t id;
} clf_vocabulary_entry;

typedef struct clf_vocabulary {
    clf_str text; /* every token with a NUL after it */
    clf_vocabulary_entry *entries;
    size_t count, entry_capacity;
    uint32_t *slots;   /* entry index + 1, 0 = free */
    size_t slot_count; /* power of two */
    uint32_t *by_id;   /* entry index + 1, 0 = hole; filled by clfi_vocabulary_index */
    size_t id_count;   /* highest id + 1 */
    size_t longest;    /* bytes of the longest token */
} clf_vocabulary;

#define CLF_VOCABULARY_INIT  \
    {                        \
        .text = CLF_STR_INIT \
    }

void clfi_vocabulary_free(clf_vocabulary *vocabulary);

/* Adds a token with its id; a token that exists already gets the new id. Tokens are UTF-8 without U+0000 and may be empty. FORMAT: id
 * outside 0..CLFI_VOCABULARY_MAX_ID, or too many tokens. OUT_OF_MEMORY. */
clf_status clfi_vocabulary_add(clf_vocabulary *vocabulary, const char *token, size_t size, int64_t id);

/* Builds the array from id to token. known: for added tokens, the highest id of their model's vocabulary plus 1, else 0. FORMAT: two tokens
 * share an id, or the highest id is out of proportion to the number of tokens. OUT_OF_MEMORY. */
clf_status clfi_vocabulary_index(clf_vocabulary *vocabulary, size_t known);

/* Id of a token, -1 when absent. */
int32_t clfi_vocabulary_find(const clf_vocabulary *vocabulary, const char *token, size_t size);

/* Text of an id; NULL: no token has it. Call clfi_vocabulary_index before. Borrowed. */
const char *clfi_vocabulary_token(const clf_vocabulary *vocabulary, int32_t id);

/* Adds the tokens of a vocab.txt, one per line; ids are line numbers from 0. White space at the end of a line is dropped. If lines are
 * equal, the token gets the last one's id. FORMAT: a line is not UTF-8 or holds U+0000 (the message names the line), or there are too many.
 * `name` is the file's name for messages. */
clf_status clfi_vocabulary_parse_lines(clf_vocabulary *vocabulary, const char *text, size_t size, const char *name);

/* Adds the tokens of {"token": id, ...} and indexes them. Messages begin with `where`. FORMAT: an id is no integer, or as
 * clfi_vocabulary_add and clfi_vocabulary_index. */
clf_status clfi_vocabulary_read_json(clf_vocabulary *vocabulary, const json_t *json, const char *where);

#endif
