/* SPDX-License-Identifier: MIT */
/* Ollama's routes (/api/...). */
#ifndef CLFI_SERVE_OLLAMA_H
#define CLFI_SERVE_OLLAMA_H

#include "serve/call.h"

bool srv_ollama_tags(srv_call *call);
bool srv_ollama_version(srv_call *call);
bool srv_ollama_show(srv_call *call);
bool srv_ollama_embed(srv_call *call);
bool srv_ollama_chat(srv_call *call);
bool srv_ollama_generate(srv_call *call);

#endif
