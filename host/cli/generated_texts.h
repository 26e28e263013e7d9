/* SPDX-License-Identifier: MIT */
/* What a language model makes of each prompt, printed as it comes. */
#ifndef CLFI_CLI_GENERATED_TEXTS_H
#define CLFI_CLI_GENERATED_TEXTS_H

#include "cli/inputs.h"
#include "cli/session.h"
#include "clformer/generate.h"

/* The session's model is open. A line for each prompt, in their order: its text, or {"tokens":[...],"text":"...",
 * "finish":"stop|length"}. */
clf_status cli_generated_texts(cli_session *session, cli_inputs *inputs, const clf_generate_params *params, bool as_json);

#endif
