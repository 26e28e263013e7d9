/* SPDX-License-Identifier: MIT */
/* OpenAI's routes that write text: /v1/chat/completions and /v1/completions. */
#ifndef CLFI_SERVE_OPENAI_TEXT_H
#define CLFI_SERVE_OPENAI_TEXT_H

#include "serve/call.h"

bool srv_openai_chat(srv_call *call);
bool srv_openai_completions(srv_call *call);

#endif
