/* SPDX-License-Identifier: MIT */
/* First steps that the functions of clformer/generate.h share. */
#ifndef CLFI_MODEL_GENERATION_H
#define CLFI_MODEL_GENERATION_H

#include "base/options.h"
#include "clformer/generate.h"
#include "model/decode_batch.h"
#include "model/session.h"

/* Reads the parameters and checks them and the texts that they go with. */
clf_status clfi_generate_params_check(const clf_text *texts, size_t count, const clf_generate_params *params, clf_generate_params *out);

/* Replaces a repeat_penalty of 0 by the model's. */
void clfi_generation_settle_penalty(const clf_model *model, clf_generate_params *params);

/* Creates the session's decoding batch if it has none. UNSUPPORTED: the model does not generate text. */
clf_status clfi_generation_ready(clf_session *session);

/* Encodes a text. enough: it is read until it has this many tokens, which need not be right, because the caller refuses it; 0: to its end.
 * Counts it in params->long_texts if it is longer than max_tokens. INVALID_ARGUMENT: it has no tokens. */
clf_status clfi_generation_encode(const clf_model *model, const clf_generate_params *params, const clf_text *text, size_t enough,
                                  clf_encoding *out);

/* Cache rows that the session's sequences use: tokens whose keys and values are stored. */
uint64_t clfi_generation_held(const clf_session *session);

/* OUT_OF_MEMORY: the session's device has no room for keys and values of `tokens` tokens in all, beside passes with logits of `sequences`
 * tokens. Callers check before any work. */
clf_status clfi_generation_fits(const clf_session *session, size_t sequences, uint64_t tokens);

/* Reports that a call ended with `st` at text `index`: in params->failed_text, or without it at the beginning of the message, with the
 * caller's name for the texts ("generate: prompts[2]: ..."). Returns st. */
clf_status clfi_generation_blame(const clf_generate_params *params, const char *what, size_t index, clf_status st);

#endif
