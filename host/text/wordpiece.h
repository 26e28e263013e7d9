/* SPDX-License-Identifier: MIT */
/* WordPiece: a word becomes the longest vocabulary piece that begins it, then the longest that continues it, and so on.
 * Source: Wu et al. 2016 (arXiv:1609.08144), section 4.1; the greedy search of google-research/bert. */
#ifndef CLFI_TEXT_WORDPIECE_H
#define CLFI_TEXT_WORDPIECE_H

#include "base/status.h"
#include "text/vocabulary.h"

typedef struct clf_wordpiece_settings {
    const char *unknown;             /* token of a word that cannot be divided; must be in the vocabulary */
    const char *continuation_prefix; /* before every piece but a word's first; may be "" */
    size_t max_word_characters;      /* longer words are unknown */
} clf_wordpiece_settings;

#define CLF_WORDPIECE_SETTINGS_INIT {"[UNK]", "##", 100}

/* Creates a model for clfi_wordpiece_kind. Takes over the indexed vocabulary, also when it fails, and leaves it empty. `where` comes first
 * in messages. FORMAT: the unknown token is missing. OUT_OF_MEMORY. */
clf_status clfi_wordpiece_create(clf_vocabulary *vocabulary, const clf_wordpiece_settings *settings, const char *where, void **out);

#endif
