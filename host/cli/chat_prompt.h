/* SPDX-License-Identifier: MIT */
/* A conversation as the prompt of a language model, through its chat template. */
#ifndef CLFI_CLI_CHAT_PROMPT_H
#define CLFI_CLI_CHAT_PROMPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clformer/tokenizer.h"
#include "template/template.h"

typedef struct cli_chat_prompt cli_chat_prompt;

/* Both are borrowed. keeps_control: control tokens written in a message are those tokens; otherwise they are text, and the template alone
 * writes control tokens, as with sanitize_control_tokens in transformers. Control tokens are the special ones, and of the other added
 * tokens those in tokenizer_config.json's chat_control_tokens or, without that key, in the template's own text. */
clf_status cli_chat_prompt_open(const clf_template *form, const clf_tokenizer *tokenizer, bool keeps_control, cli_chat_prompt **out);
void cli_chat_prompt_close(cli_chat_prompt *prompt); /* NULL is a no-op */

/* {"role", "content"} of a text, whose ill-formed UTF-8 becomes U+FFFD. For lists of messages below alone. */
clf_status cli_chat_message(const cli_chat_prompt *prompt, const char *role, const char *text, size_t size, json_t **out);

/* The conversation's tokens with the beginning of an answer; *out lives until the next call. What the template sees beside the messages is
 * what transformers gives it: add_generation_prompt, tools and documents (none), and the tokenizer's special tokens by name.
 * *out_refused: a control token in a message cannot be written as text (INVALID_ARGUMENT). Other statuses: clfi_template_render,
 * clf_tokenizer_encode. */
clf_status cli_chat_prompt_make(cli_chat_prompt *prompt, const json_t *messages, const int32_t **out, size_t *out_count, bool *out_refused);

#endif
