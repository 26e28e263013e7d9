/* SPDX-License-Identifier: MIT */
/* Reranking for clients of Cohere and Jina: /v1/rerank and /v2/rerank, and /rerank if the body has `documents` and no `texts`. */
#ifndef CLFI_SERVE_COHERE_H
#define CLFI_SERVE_COHERE_H

#include "serve/call.h"

bool srv_cohere_rerank(srv_call *call);

#endif
