/* SPDX-License-Identifier: MIT */
/* Notes about a tokenizer that commands print before they use it. */
#ifndef CLFI_JOBS_TOKENIZER_NOTE_H
#define CLFI_JOBS_TOKENIZER_NOTE_H

#include "clformer/tokenizer.h"

/* Prints once in the program, on standard error, that the model in `path` does not say how it splits texts. */
void cli_tokenizer_note(const clf_tokenizer *tokenizer, const char *path);

#endif
