/* SPDX-License-Identifier: MIT */
/* Decides which files of a folder make up a model, so that commands do not overwrite their own input. */
#ifndef CLFI_CONSOLE_MODEL_FILES_H
#define CLFI_CONSOLE_MODEL_FILES_H

#include <stdbool.h>

/* Whether clformer reads files of this name in a model's directory. */
bool cli_is_model_file(const char *name);

/* Whether `path` is read when the model `input` is loaded. `input` is a file, or a folder whose model files count. If the folder holds an
 * adapter, the files of its base model count too. */
bool cli_is_read_from(const char *input, const char *path);

#endif
