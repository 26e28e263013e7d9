/* SPDX-License-Identifier: MIT */
/* Writes a directory's tokenizer as keys of a GGUF file. */
#ifndef CLFI_TEXT_TOKENIZER_GGUF_PUT_H
#define CLFI_TEXT_TOKENIZER_GGUF_PUT_H

#include "io/gguf_values.h"

/* Properties of the directory's tokenizer that the format's own keys cannot express. */
typedef struct clf_tokenizer_put_notes {
    size_t absent;       /* tokens that the configuration names and the vocabulary lacks */
    bool leaves_nfc;     /* the tokenizer first normalises texts to NFC */
    char more_ends[200]; /* tokens that only readers of the file take as end tokens, by their text: "<a>, <b>", as many as fit; "": none */
} clf_tokenizer_put_notes;

/* Puts the tokenizer of a directory into `values`, as the keys that clfi_tokenizer_open_gguf reads. The vocabulary is padded to `rows`
 * tokens. bos: used if the directory names none; -1: none. ends: the end tokens, which end a text. Statuses as clfi_vocabulary_export.
 * UNSUPPORTED also: more than three end tokens that readers do not recognise by their text, or the tokenizer appends an end token that is
 * not in `ends`. FORMAT also: an end token outside the vocabulary. */
clf_status clfi_tokenizer_put_gguf(const char *directory, size_t rows, int32_t bos, const int32_t *ends, size_t end_count,
                                   clf_gguf_values *values, clf_tokenizer_put_notes *out);

#endif
