/* SPDX-License-Identifier: MIT */
/* Pre-tokenizers: how a normalised text is cut into the words that the model sees. Each kind is a row of pre_tokenizer.c. */
#ifndef CLFI_TEXT_PRE_TOKENIZER_H
#define CLFI_TEXT_PRE_TOKENIZER_H

#include "text/aligned_text.h"
#include "text/chain.h"
#include "text/text_workspace.h"

/* Treatment of an ASCII letter or digit, a space, and another letter or digit in a row, anywhere in a text: */
typedef enum clf_word_cut {
    CLF_WORDS_UNKNOWN, /* it may join the two, or look back over them */
    CLF_WORDS_LEFT,    /* it does nothing there */
    CLF_WORDS_CUT      /* it cuts before the space */
} clf_word_cut;

typedef struct clf_pre_tokenizer_kind {
    clf_part_kind part; /* first */

    /* One of the two. Neither gets the pieces of added tokens.
     * divide: appends to `out` the pieces that bytes [start, end) of `text` fall into; those between them are dropped.
     * rewrite: appends what becomes of bytes [start, end) of `from` to `to`, and its pieces to `out`. */
    clf_status (*divide)(const void *settings, const clf_str *text, size_t start, size_t end, clf_piece_list *out,
                         clf_text_workspace *work);
    clf_status (*rewrite)(const void *settings, const clf_aligned_text *from, size_t start, size_t end, clf_aligned_text *to,
                          clf_piece_list *out, clf_text_workspace *work);

    bool is_local; /* as for normalizers */

    /* Whether rewrite asks where a piece begins in the given text, so that spans are needed; NULL: never. */
    bool (*needs_spans)(const void *settings);

    clf_word_cut (*words)(const void *settings); /* NULL: unknown */
} clf_pre_tokenizer_kind;

extern const clf_part_table clfi_pre_tokenizers;

/* The rows, by the file that they stand in. */
extern const clf_pre_tokenizer_kind clfi_pre_tokenizer_bert, clfi_pre_tokenizer_whitespace, clfi_pre_tokenizer_whitespace_split,
    clfi_pre_tokenizer_digits, clfi_pre_tokenizer_punctuation, clfi_pre_tokenizer_split, clfi_pre_tokenizer_byte_level,
    clfi_pre_tokenizer_metaspace;

/* Runs the chain on work->text[0] cut into work->pieces[0]; both then hold the result. Pieces that become empty are dropped. */
clf_status clfi_pre_tokenize(const clf_chain *chain, clf_text_workspace *work);

bool clfi_pre_tokenizers_are_local(const clf_chain *chain);
bool clfi_pre_tokenizers_cut_words(const clf_chain *chain);
bool clfi_pre_tokenizers_need_spans(const clf_chain *chain);

#endif
