/* SPDX-License-Identifier: MIT */
/* Tokenizers of directories for GGUF files. */
#ifndef CLFI_TEXT_TOKENIZER_GGUF_PUT_H
#define CLFI_TEXT_TOKENIZER_GGUF_PUT_H

#include "io/gguf_values.h"

/* A directory's tokenizer of `rows` tokens as the keys that clfi_tokenizer_open_gguf reads. bos: where the directory names none, -1: none;
 * ends: the tokens that end texts. *out_leaves_nfc: the tokenizer composes texts first, which no key says. Statuses as
 * clfi_vocabulary_export; UNSUPPORTED also: more than three ends. */
clf_status clfi_tokenizer_put_gguf(const char *directory, size_t rows, int32_t bos, const int32_t *ends, size_t end_count,
                                   clf_gguf_values *values, bool *out_leaves_nfc);

#endif
