/* SPDX-License-Identifier: MIT */
/* Which files of a folder make up a model, and whether they are still the same. */
#ifndef CLFI_CLI_MODEL_FILES_H
#define CLFI_CLI_MODEL_FILES_H

#include <stdbool.h>

#include "base/hash.h"

/* Whether clformer reads files of this name in a model's directory. */
bool cli_is_model_file(const char *name);

/* Whether `path` is the regular file `input`, or where that is a folder, one of those in it that models are read from. */
bool cli_is_read_from(const char *input, const char *path);

/* A hash of what the system tells of the files that a model is read from (which they are, sizes, times of writing), by which an exchange
 * is noticed: of the file, or of the model's files in the folder and in its folders. IO, NOT_FOUND, OUT_OF_MEMORY. */
clf_status cli_model_files_stamp(const char *path, char out[CLFI_HASH_TEXT_BYTES]);

#endif
