/* SPDX-License-Identifier: MIT */
/* Shared by the functions of clformer/generate.h. */
#ifndef CLFI_MODEL_GENERATION_H
#define CLFI_MODEL_GENERATION_H

#include "base/options.h"
#include "clformer/generate.h"
#include "model/decode_batch.h"
#include "model/session.h"

/* Parameters read and checked with the texts that they go with. */
clf_status clfi_generate_params_check(const clf_text *texts, size_t count, const clf_generate_params *params, clf_generate_params *out);

/* repeat_penalty 0: the model's. */
void clfi_generation_settle_penalty(const clf_model *model, clf_generate_params *params);

/* The session's decoding batch is there. UNSUPPORTED: the model does not generate. */
clf_status clfi_generation_ready(clf_session *session);

/* Token ids of a text; counts it in params->long_texts. INVALID_ARGUMENT: there are none. */
clf_status clfi_generation_encode(const clf_model *model, const clf_generate_params *params, const clf_text *text, clf_encoding *out);

/* Tokens whose keys and values the session's sequences have. */
uint64_t clfi_generation_held(const clf_session *session);

/* OUT_OF_MEMORY: the session's device has no room for keys and values of so many tokens in all beside passes with logits of `sequences`
 * tokens; told before any work. */
clf_status clfi_generation_fits(const clf_session *session, size_t sequences, uint64_t tokens);

/* Reports that a call ended with `st` at text `index`: in params->failed_text, or without it at the beginning of the message, with the
 * caller's name for the texts ("generate: prompts[2]: ..."). Returns st. */
clf_status clfi_generation_blame(const clf_generate_params *params, const char *what, size_t index, clf_status st);

#endif
