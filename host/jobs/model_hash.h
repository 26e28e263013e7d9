/* SPDX-License-Identifier: MIT */
/* By which files a model and its tokenizer are known. */
#ifndef CLFI_JOBS_MODEL_HASH_H
#define CLFI_JOBS_MODEL_HASH_H

#include "base/hash.h"

/* Hashes of a model's files, but for those of its tokenizer, and of these: of a directory, or of one file that holds all. The caller frees
 * *out. NOT_FOUND, IO, FORMAT, OUT_OF_MEMORY. */
clf_status cli_hash_model(const char *path, char **out);
clf_status cli_hash_tokenizer(const char *path, char **out);

/* A hash of which files both are read from, their sizes and times: another one where a file was exchanged or written. */
clf_status cli_model_stamp(const char *path, char out[CLFI_HASH_TEXT_BYTES]);

#endif
