/* SPDX-License-Identifier: MIT */
/* Makes tokenizers from GGUF files. */
#ifndef CLFI_TEXT_TOKENIZER_GGUF_H
#define CLFI_TEXT_TOKENIZER_GGUF_H

#include "clformer/tokenizer.h"
#include "io/gguf.h"

/* Makes the tokenizer of an open file; the caller may close the file afterwards. Statuses as clf_tokenizer_from_vocabulary. */
clf_status clfi_tokenizer_of_gguf(const clf_gguf *file, clf_tokenizer **out);

/* Opens a file only to make its tokenizer. Statuses as clfi_gguf_open and clf_tokenizer_from_vocabulary. */
clf_status clfi_tokenizer_open_gguf(const char *path, clf_tokenizer **out);

#endif
