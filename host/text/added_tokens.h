/* SPDX-License-Identifier: MIT */
/* Added tokens: whole strings such as "[MASK]" that are found in the text before it is split into words. */
#ifndef CLFI_TEXT_ADDED_TOKENS_H
#define CLFI_TEXT_ADDED_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "text/chain.h"
#include "text/vocabulary.h"

typedef struct clf_added_token {
    const char *content; /* copied by clfi_added_tokens_add */
    size_t size;
    int32_t id;
    bool single_word; /* matches only if no word character stands beside it */
    bool lstrip;      /* takes the white space before it along */
    bool rstrip;      /* and the white space after it */
    bool normalized;  /* is looked for in the normalised text, itself normalised; otherwise as written in the raw text */
    bool special;
    bool strips_ascii; /* lstrip and rstrip take only ASCII white space */
} clf_added_token;

/* One of the two searches: raw or normalised text. */
typedef struct clf_added_matcher {
    struct clf_added_pattern *patterns; /* sorted by first byte, then longest first */
    size_t count, capacity;
    uint32_t first[257]; /* patterns that begin with byte b: first[b] up to first[b+1] */
} clf_added_matcher;

typedef struct clf_added_tokens {
    clf_added_token *tokens; /* content owned; in the order added */
    size_t count, capacity;
    struct clf_added_form *forms; /* normal forms of the tokens that normalizers change, sorted by id */
    size_t form_count;
    clf_vocabulary ids; /* content to id */
    clf_added_matcher raw, normalized;
} clf_added_tokens;

void clfi_added_tokens_free(clf_added_tokens *added);

/* Adds one token; the last of several tokens with equal content counts, and an empty one is ignored. FORMAT: its id is out of range.
 * OUT_OF_MEMORY. */
clf_status clfi_added_tokens_add(clf_added_tokens *added, const clf_added_token *token);

/* Prepares the searches; to be called after the last token was added. known: the highest id of the model's vocabulary, plus 1. UNSUPPORTED:
 * normalisation leaves nothing of a token. FORMAT: two added tokens share an id, or an id is far beyond the number of tokens.
 * OUT_OF_MEMORY. */
clf_status clfi_added_tokens_finish(clf_added_tokens *added, size_t known, const clf_chain *normalizers);

/* Text that decoding writes for an added token, as the reference does: its normal form if it is searched in the normalised text, else its
 * content. NULL: no added token has this id. */
const char *clfi_added_token_text(const clf_added_tokens *added, int32_t id);

/* A part of the text: an added token, or what lies between two of them (id -1). */
typedef struct clf_segment {
    size_t start, end;
    int32_t id;
} clf_segment;

/* State of a walk over the segments; zero at its start. */
typedef struct clf_segment_walk {
    size_t done;      /* text before this is given out */
    size_t search;    /* the next match begins here or later */
    clf_segment held; /* a match that waits for the text before it */
    bool holds;
} clf_segment_walk;

/* Finds the next segment of UTF-8 text[0..size), from left to right; the longest of the tokens that begin at one place matches. False at
 * the end. With ignore_special, special tokens are text like any other. */
bool clfi_added_next(const clf_added_matcher *matcher, const char *text, size_t size, bool ignore_special, clf_segment_walk *walk,
                     clf_segment *segment);

#endif
