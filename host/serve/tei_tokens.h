/* SPDX-License-Identifier: MIT */
/* TEI's routes that need no device: /tokenize, /decode, and /info, which describes the first model. */
#ifndef CLFI_SERVE_TEI_TOKENS_H
#define CLFI_SERVE_TEI_TOKENS_H

#include "serve/call.h"

bool srv_tei_tokenize(srv_call *call);
bool srv_tei_decode(srv_call *call);
bool srv_tei_info(srv_call *call);

#endif
