/* SPDX-License-Identifier: MIT */
/* The chat template that a model's files come with. */
#ifndef CLFI_MODEL_CHAT_TEMPLATE_H
#define CLFI_MODEL_CHAT_TEMPLATE_H

#include "base/status.h"

/* Of a GGUF file tokenizer.chat_template; of a directory chat_template.jinja, or chat_template in tokenizer_config.json, where it is a text
 * or a list of named ones ("default" counts). *out: the caller frees it. NOT_FOUND: there is none. */
clf_status clfi_chat_template_read(const char *path, char **out);

#endif
