/* SPDX-License-Identifier: MIT */
/* Turns a conversation into the prompt of a language model, by its chat template. */
#ifndef CLFI_MODEL_CHAT_PROMPT_H
#define CLFI_MODEL_CHAT_PROMPT_H

#include <stdbool.h>

#include "clformer/chat.h"
#include "clformer/tokenizer.h"
#include "io/json.h"

/* A template with the tokenizer that it goes with, and memory that is used again. */
typedef struct clf_chat_prompt clf_chat_prompt;

/* The template of the files at `path` (model/chat_template.h); the tokenizer is borrowed. remedy: tells the user in an error what to do if
 * a control token in a conversation cannot be written as text; borrowed. NOT_FOUND: there is no template. FORMAT, UNSUPPORTED:
 * clfi_template_parse. */
clf_status clfi_chat_prompt_open(const char *path, const clf_tokenizer *tokenizer, const char *remedy, clf_chat_prompt **out);
void clfi_chat_prompt_close(clf_chat_prompt *prompt); /* NULL is a no-op */

/* The control token that the template writes after an assistant's message; -1: none. */
int32_t clfi_chat_prompt_end(const clf_chat_prompt *prompt);

/* The conversation's tokens with the beginning of an answer; *out lives until the next call. keeps_control as in clf_chat_params. enough:
 * the conversation is read until it has this many tokens, which need not be right, because the caller refuses it; 0: to its end. `more`:
 * an object for each message, with texts that the template sees in the message beside role and content; NULL: none. The template sees
 * beside the messages what transformers gives it: add_generation_prompt, tools and documents (none), and the tokenizer's special tokens by
 * name. INVALID_ARGUMENT: a control token in a message cannot be written as text. Other statuses: clfi_template_render,
 * clf_tokenizer_encode. */
clf_status clfi_chat_prompt_make(clf_chat_prompt *prompt, const clf_message *messages, size_t count, const json_t *more, bool keeps_control,
                                 size_t enough, const int32_t **out, size_t *out_count);

#endif
