/* SPDX-License-Identifier: MIT */
/* Normalizers: change a text before it is split into words. Each kind is a row of normalizer.c. */
#ifndef CLFI_TEXT_NORMALIZER_H
#define CLFI_TEXT_NORMALIZER_H

#include "text/aligned_text.h"
#include "text/chain.h"
#include "text/text_workspace.h"

typedef struct clf_normalizer_kind {
    clf_part_kind part; /* first */

    /* Appends the normal form of `from` to the empty `to`. */
    clf_status (*run)(const void *settings, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work);

    /* A text may be normalised in parts, if each part ends after an ASCII space or line end: the joined forms are the form of the
     * whole. */
    bool is_local;
} clf_normalizer_kind;

extern const clf_part_table clfi_normalizers;

/* The rows, grouped by file. */
extern const clf_normalizer_kind clfi_normalizer_bert, clfi_normalizer_lowercase, clfi_normalizer_nfc, clfi_normalizer_nfd,
    clfi_normalizer_nfkc, clfi_normalizer_nfkd, clfi_normalizer_strip_accents, clfi_normalizer_nmt, clfi_normalizer_strip,
    clfi_normalizer_replace, clfi_normalizer_prepend, clfi_normalizer_byte_level, clfi_normalizer_precompiled;

/* Runs the chain on work->text[0], which then holds the result. */
clf_status clfi_normalize(const clf_chain *chain, clf_text_workspace *work);

/* Appends `text` and then bytes [start, end) of `from`. `text` gets the span of the first of these bytes. Appends nothing if there are
 * none. */
clf_status clfi_prepend(const char *text, const clf_aligned_text *from, size_t start, size_t end, clf_aligned_text *to);

bool clfi_normalizers_are_local(const clf_chain *chain);

#endif
