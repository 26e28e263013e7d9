/* SPDX-License-Identifier: MIT */
/* Unigram language model: of all ways to divide a word into tokens, the one with the highest sum of scores. Source: Kudo 2018
 * (arXiv:1804.10959); SentencePiece's search with a score for unknown characters. */
#ifndef CLFI_TEXT_UNIGRAM_H
#define CLFI_TEXT_UNIGRAM_H

#include <stdbool.h>

#include "base/status.h"
#include "text/vocabulary.h"

typedef struct clf_unigram clf_unigram;

/* A model for clfi_unigram_kind; takes the vocabulary, whose ids are 0 .. count-1, over (also when it fails) and leaves it empty. scores[i]
 * belongs to id i; unknown is the id of what is not in the vocabulary, -1 for none: then a text that needs it is refused. With
 * byte_fallback it becomes the tokens
 * "<0x00>" .. "<0xFF>" of its bytes where they are all there. A token whose score is -INFINITY is in no division of a text.
 * FORMAT: another score is not finite, unknown is outside the vocabulary. */
clf_status clfi_unigram_create(clf_vocabulary *vocabulary, const double *scores, size_t count, int32_t unknown, bool byte_fallback,
                               const char *where, clf_unigram **out);
void clfi_unigram_destroy(clf_unigram *unigram);

#endif
