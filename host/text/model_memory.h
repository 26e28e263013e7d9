/* SPDX-License-Identifier: MIT */
/* Working memory of tokenizer models, with a cache of the tokens of words. One thread at a time. */
#ifndef CLFI_TEXT_MODEL_MEMORY_H
#define CLFI_TEXT_MODEL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "text/token_list.h"

/* A part of a word while BPE merges it. The parts are a linked list, because merging removes some. */
typedef struct clf_symbol {
    int32_t id;
    int32_t previous, next; /* -1: none */
    uint32_t size;          /* bytes; 0: merged into the one before */
} clf_symbol;

typedef struct clf_merge_candidate {
    uint32_t rank;
    int32_t position; /* of the left symbol */
    int32_t id;       /* the token that the two become */
} clf_merge_candidate;

/* Unigram: the best way to divide a word's bytes up to one position into tokens. */
typedef struct clf_best_path {
    double score;
    uint32_t start; /* of the last token on this way; UINT32_MAX: no way is known yet */
    int32_t id;     /* of that token */
    uint32_t end;   /* if the best way through the whole word has a token that begins here: its end */
    int32_t next_id;
} clf_best_path;

enum { CLFI_CACHED_BYTES = 24, CLFI_CACHED_TOKENS = 8, CLFI_CACHED_WORDS = 8192 };

typedef struct clf_cached_word {
    uint8_t size, count; /* size 0: empty */
    char bytes[CLFI_CACHED_BYTES];
    int32_t id[CLFI_CACHED_TOKENS];
    uint8_t start[CLFI_CACHED_TOKENS], end[CLFI_CACHED_TOKENS];
} clf_cached_word;

typedef struct clf_model_memory {
    clf_symbol *symbols;
    size_t symbol_capacity;
    clf_merge_candidate *heap; /* the best candidate first */
    size_t heap_count, heap_capacity;
    clf_best_path *paths;
    size_t path_capacity;
    clf_str text;
    const void *owner;      /* the model whose words these are, and when it was made */
    uint64_t owner_made_ns;
    clf_cached_word *cached; /* [CLFI_CACHED_WORDS], by hash */
} clf_model_memory;

void clfi_model_memory_free(clf_model_memory *memory);

/* Appends the tokens of a word if the cache has them (*found). *slot: where clfi_model_memory_keep can store the word; NULL: it is longer
 * than CLFI_CACHED_BYTES. made_ns: when the model was made, which tells it from an earlier model at the same address. OUT_OF_MEMORY. */
clf_status clfi_model_memory_find(clf_model_memory *memory, const void *model, uint64_t made_ns, const char *word, size_t size,
                                  clf_token_list *tokens, bool *found, clf_cached_word **slot);

/* Stores tokens [first, tokens->count) as those of the word, unless slot is NULL or they are more than CLFI_CACHED_TOKENS. */
void clfi_model_memory_keep(clf_cached_word *slot, const char *word, size_t size, const clf_token_list *tokens, size_t first);

#endif
