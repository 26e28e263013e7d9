/* SPDX-License-Identifier: MIT */
/* Tokenizers of directories for GGUF files. */
#ifndef CLFI_TEXT_TOKENIZER_GGUF_PUT_H
#define CLFI_TEXT_TOKENIZER_GGUF_PUT_H

#include "io/gguf_values.h"

/* Properties of the directory's tokenizer that the keys cannot hold. */
typedef struct clf_tokenizer_put_notes {
    size_t absent;       /* tokens that the configuration names and the vocabulary lacks */
    bool leaves_nfc;     /* it composes texts first (NFC) */
    char more_ends[200]; /* tokens that end texts for readers of the file, by their text, and do not in the directory: "<a>, <b>", the first
                          * of them; "": none */
} clf_tokenizer_put_notes;

/* A directory's tokenizer of `rows` tokens as the keys that clfi_tokenizer_open_gguf reads. bos: where the directory names none, -1: none;
 * ends: the tokens that end texts. Statuses as clfi_vocabulary_export; UNSUPPORTED also: more than three ends that are not known by their
 * text. */
clf_status clfi_tokenizer_put_gguf(const char *directory, size_t rows, int32_t bos, const int32_t *ends, size_t end_count,
                                   clf_gguf_values *values, clf_tokenizer_put_notes *out);

#endif
