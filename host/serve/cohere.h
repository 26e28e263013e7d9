/* SPDX-License-Identifier: MIT */
/* Reranking as Cohere and Jina have it, and /rerank, which is TEI's where the body has `texts`. */
#ifndef CLFI_SERVE_COHERE_H
#define CLFI_SERVE_COHERE_H

#include "serve/call.h"

bool srv_cohere_rerank(srv_call *call);

#endif
