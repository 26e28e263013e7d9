/* SPDX-License-Identifier: MIT */
/* Which files of a folder make up a model. */
#ifndef CLFI_CONSOLE_MODEL_FILES_H
#define CLFI_CONSOLE_MODEL_FILES_H

#include <stdbool.h>

/* Whether clformer reads files of this name in a model's directory. */
bool cli_is_model_file(const char *name);

/* Whether `path` is the regular file `input`, or where that is a folder, one of those in it, and in that of the model of
 * its adapter, that models are read from. */
bool cli_is_read_from(const char *input, const char *path);

#endif
