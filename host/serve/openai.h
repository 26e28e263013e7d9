/* SPDX-License-Identifier: MIT */
/* OpenAI's routes but for those that write text: models and embeddings. */
#ifndef CLFI_SERVE_OPENAI_H
#define CLFI_SERVE_OPENAI_H

#include "serve/call.h"

bool srv_openai_models(srv_call *call);
bool srv_openai_model(srv_call *call); /* call->rest: its id, as the path has it */
bool srv_openai_embeddings(srv_call *call);

#endif
