/* SPDX-License-Identifier: MIT */
/* Byte-pair encoding: a word starts as characters, and the pair of neighbours with the best merge becomes one token, until no pair has a
 * merge. Source: Sennrich et al. 2016 (arXiv:1508.07909), with the settings of Hugging Face's `tokenizers`. */
#ifndef CLFI_TEXT_BPE_H
#define CLFI_TEXT_BPE_H

#include <stdbool.h>

#include "base/status.h"
#include "text/vocabulary.h"

typedef struct clf_bpe_settings {
    const char *unknown;             /* token of a character that is not in the vocabulary; NULL: such characters are dropped */
    const char *continuation_prefix; /* before every character but a word's first; "" for none */
    const char *end_suffix;          /* after a word's last character; "" for none */
    bool fuse_unknown;               /* neighbouring unknown characters are one token */
    bool byte_fallback;              /* an unknown character becomes the tokens "<0x00>" .. "<0xFF>" of its bytes, if all are there */
    bool keeps_unknown;              /* dropped characters separate their neighbours, which then don't merge */
    bool first_merge_counts;         /* of several merges of the same two tokens, the first counts; else the last */
    bool ignore_merges;              /* a word that is in the vocabulary becomes that token */
} clf_bpe_settings;

typedef struct clf_bpe clf_bpe;

/* Creates a model for clfi_bpe_kind without merges. Takes over the indexed vocabulary, also when it fails, and leaves it empty. `where`
 * comes first in messages. FORMAT: the unknown token is missing. OUT_OF_MEMORY. */
clf_status clfi_bpe_create(clf_vocabulary *vocabulary, const clf_bpe_settings *settings, const char *where, clf_bpe **out);

/* Adds a merge of two tokens. Merges of lower rank come first; the last rank given for a pair counts. FORMAT: one of the tokens, or the
 * token of both, is not in the vocabulary, or `right` is shorter than the continuation prefix. OUT_OF_MEMORY. */
clf_status clfi_bpe_add_merge(clf_bpe *bpe, const char *left, size_t left_size, const char *right, size_t right_size, uint32_t rank,
                              const char *where);

/* Adds the merges of a SentencePiece model: any two tokens that together are a third one merge, and third tokens with higher scores come
 * first. scores[i] belongs to the token of id i. FORMAT: a token has no finite score. OUT_OF_MEMORY. */
clf_status clfi_bpe_add_scores(clf_bpe *bpe, const float *scores, size_t count, const char *where);

#endif
