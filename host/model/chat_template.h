/* SPDX-License-Identifier: MIT */
/* Reads the chat template that a model's files come with. */
#ifndef CLFI_MODEL_CHAT_TEMPLATE_H
#define CLFI_MODEL_CHAT_TEMPLATE_H

#include "base/status.h"

#define CLFI_CHAT_TEMPLATE "chat_template.jinja"
#define CLFI_CHAT_TEMPLATE_DEFAULT "additional_chat_templates/default.jinja"

/* Reads the chat template of a model. A GGUF file has it as tokenizer.chat_template. A directory has it in the first of these that is
 * there: CLFI_CHAT_TEMPLATE_DEFAULT, CLFI_CHAT_TEMPLATE, chat_template in tokenizer_config.json. The last is a text or a list of named
 * texts, of which "default" is taken. *out: the caller frees it. NOT_FOUND: there is none. */
clf_status clfi_chat_template_read(const char *path, char **out);

#endif
