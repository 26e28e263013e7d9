/* SPDX-License-Identifier: MIT */
/* OpenAI's routes for models and embeddings; openai_text.h has those that write text. */
#ifndef CLFI_SERVE_OPENAI_H
#define CLFI_SERVE_OPENAI_H

#include "serve/call.h"

bool srv_openai_models(srv_call *call);
bool srv_openai_model(srv_call *call); /* call->rest: the model's name */
bool srv_openai_embeddings(srv_call *call);

#endif
