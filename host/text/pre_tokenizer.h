/* SPDX-License-Identifier: MIT */
/* Pre-tokenizers: split a normalised text into the words that the model sees. Each kind is a row of pre_tokenizer.c. */
#ifndef CLFI_TEXT_PRE_TOKENIZER_H
#define CLFI_TEXT_PRE_TOKENIZER_H

#include "text/aligned_text.h"
#include "text/chain.h"
#include "text/text_workspace.h"

/* Effect of a pre-tokenizer, anywhere in a text, on an ASCII letter or digit, a space and another letter or digit in a row: */
typedef enum clf_word_cut {
    CLF_WORDS_UNKNOWN, /* it may join the two words, or look back over the space */
    CLF_WORDS_LEFT,    /* it does not split there */
    CLF_WORDS_CUT      /* it splits before the space */
} clf_word_cut;

typedef struct clf_pre_tokenizer_kind {
    clf_part_kind part; /* first */

    /* Exactly one of the two is set. Neither gets the pieces of added tokens.
     * divide: appends to `out` the pieces of bytes [start, end) of `text`; bytes between the pieces are dropped.
     * rewrite: appends the new form of bytes [start, end) of `from` to `to`, and its pieces to `out`. */
    clf_status (*divide)(const void *settings, const clf_str *text, size_t start, size_t end, clf_piece_list *out,
                         clf_text_workspace *work);
    clf_status (*rewrite)(const void *settings, const clf_aligned_text *from, size_t start, size_t end, clf_aligned_text *to,
                          clf_piece_list *out, clf_text_workspace *work);

    bool is_local; /* as in clf_normalizer_kind */

    /* Whether rewrite needs to know where a piece begins in the given text, so that spans are kept; NULL: never. */
    bool (*needs_spans)(const void *settings);

    clf_word_cut (*words)(const void *settings); /* NULL: unknown */
} clf_pre_tokenizer_kind;

extern const clf_part_table clfi_pre_tokenizers;

/* The rows, grouped by file. */
extern const clf_pre_tokenizer_kind clfi_pre_tokenizer_bert, clfi_pre_tokenizer_whitespace, clfi_pre_tokenizer_whitespace_split,
    clfi_pre_tokenizer_digits, clfi_pre_tokenizer_punctuation, clfi_pre_tokenizer_split, clfi_pre_tokenizer_byte_level,
    clfi_pre_tokenizer_metaspace;

/* Runs the chain on work->text[0], split into work->pieces[0]; both then hold the result. Pieces that become empty are dropped. */
clf_status clfi_pre_tokenize(const clf_chain *chain, clf_text_workspace *work);

/* are_local: every part is, and there is one (without parts, a text is a single word). cut_words: the chain splits before each space
 * between two ASCII letters or digits. need_spans: some part does. */
bool clfi_pre_tokenizers_are_local(const clf_chain *chain);
bool clfi_pre_tokenizers_cut_words(const clf_chain *chain);
bool clfi_pre_tokenizers_need_spans(const clf_chain *chain);

#endif
