/* SPDX-License-Identifier: MIT */
/* Byte-pair encoding: a word starts as characters, and the pair of neighbours with the best merge becomes one, until there is none. Source:
 * Sennrich et al. 2016 (arXiv:1508.07909), with the settings of Hugging Face's `tokenizers`. */
#ifndef CLFI_TEXT_BPE_H
#define CLFI_TEXT_BPE_H

#include <stdbool.h>

#include "base/status.h"
#include "text/vocabulary.h"

typedef struct clf_bpe_settings {
    const char *unknown;             /* token of a character that is not in the vocabulary; NULL: such characters are dropped */
    const char *continuation_prefix; /* before every character but a word's first; "" for none */
    const char *end_suffix;          /* behind a word's last character; "" for none */
    bool fuse_unknown;               /* neighbouring unknown characters are one token */
    bool byte_fallback;              /* a character that is not in the vocabulary becomes its bytes' tokens "<0x00>" .. "<0xFF>" */
    bool ignore_merges;              /* a word that is in the vocabulary is that token */
} clf_bpe_settings;

typedef struct clf_bpe clf_bpe;

/* A model for clfi_bpe_kind without merges; takes the indexed vocabulary over (also when it fails) and leaves it empty. FORMAT: the unknown
 * token is missing. */
clf_status clfi_bpe_create(clf_vocabulary *vocabulary, const clf_bpe_settings *settings, const char *where, clf_bpe **out);

/* The pair of these tokens merges; the lower the rank the sooner. Of equal pairs the last counts. FORMAT: a token, or both in one, is not
 * in the vocabulary. */
clf_status clfi_bpe_add_merge(clf_bpe *bpe, const char *left, size_t left_size, const char *right, size_t right_size, uint32_t rank,
                              const char *where);

/* SentencePiece's form of the same: any two tokens that together are a third one merge, those with the best score of that one first.
 * scores[i] belongs to the token of id i. FORMAT: a score is not a number. */
clf_status clfi_bpe_add_scores(clf_bpe *bpe, const float *scores, size_t count, const char *where);

#endif
