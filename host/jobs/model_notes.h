/* SPDX-License-Identifier: MIT */
/* Notes about a model's files for the user: what the files ask for and the program does not follow. A note that cannot be made, because a
 * file cannot be read or memory is short, is left out: the model is open and works. */
#ifndef CLFI_JOBS_MODEL_NOTES_H
#define CLFI_JOBS_MODEL_NOTES_H

#include "clformer/model.h"
#include "clformer/tokenizer.h"

/* Receives a note, a line without its end. */
typedef void (*cli_note_sink)(void *user, const char *note);

/* A sink that prints notes on standard error. */
void cli_note_print(void *unused, const char *note);

/* The model in `path` does not say how it splits texts. */
void cli_tokenizer_note(const clf_tokenizer *tokenizer, const char *path, cli_note_sink say, void *user);

/* All notes about an open model: that of cli_tokenizer_note, the keys of its sentence-transformers files that nothing reads, and a language
 * model's GGUF file that names no end of texts. */
void cli_model_notes(const clf_model *model, const char *path, cli_note_sink say, void *user);

/* The model's files ask for sampling. For callers whose user has not asked for it. */
void cli_sampling_note(const char *path, cli_note_sink say, void *user);

#endif
