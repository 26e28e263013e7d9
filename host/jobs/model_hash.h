/* SPDX-License-Identifier: MIT */
/* Hashes the files that determine a model's embeddings, for fingerprints (jobs/fingerprint.h). */
#ifndef CLFI_JOBS_MODEL_HASH_H
#define CLFI_JOBS_MODEL_HASH_H

#include "base/hash.h"

/* A hash of a model's files without its tokenizer, and a hash of the tokenizer's files. path: the model's directory, or one file that holds
 * everything; then both are the hash of that file. The caller frees *out. NOT_FOUND, IO, FORMAT, OUT_OF_MEMORY. */
clf_status cli_hash_model(const char *path, char **out);
clf_status cli_hash_tokenizer(const char *path, char **out);

/* A hash of the names, sizes and times of all these files. It changes when a file is replaced or written. Statuses as above. */
clf_status cli_model_stamp(const char *path, char out[CLFI_HASH_TEXT_BYTES]);

#endif
