/* SPDX-License-Identifier: MIT */
/* Notices about a model's files, which commands print before they use it. */
#ifndef CLFI_JOBS_ACCOUNT_NOTE_H
#define CLFI_JOBS_ACCOUNT_NOTE_H

/* Tells once in the program, on standard error, which keys of the sentence-transformers files of the model in `path` nothing reads. */
void cli_account_note(const char *path);

#endif
