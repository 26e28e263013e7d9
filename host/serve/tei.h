/* SPDX-License-Identifier: MIT */
/* The routes of Text Embeddings Inference (TEI) that need a device. */
#ifndef CLFI_SERVE_TEI_H
#define CLFI_SERVE_TEI_H

#include "serve/call.h"

bool srv_tei_embed(srv_call *call);
bool srv_tei_rerank(srv_call *call);
bool srv_tei_predict(srv_call *call);
bool srv_tei_similarity(srv_call *call);
bool srv_tei_root(srv_call *call); /* POST /: chooses the route by the first model's task and the shape of the body */

#endif
