/* SPDX-License-Identifier: MIT */
/* Prompts, conversations and sampling parameters of a request as a job for a language model; the dialects share it. */
#ifndef CLFI_SERVE_TEXT_ASKS_H
#define CLFI_SERVE_TEXT_ASKS_H

#include "serve/call.h"

enum { SRV_MOST_STOPS = 64, SRV_MOST_PROMPTS = 128 };

/* A job on the model for `count` texts with these parameters; the call's body becomes the job's. */
bool srv_texts_begin(srv_call *call, const srv_model *model, const clf_generate_params *params, size_t count);

/* Part `index` continues a text, or token ids. */
bool srv_texts_add_prompt(srv_call *call, size_t index, clf_text text, const char *field);
bool srv_texts_add_ids(srv_call *call, size_t index, const json_t *ids, const char *field);

/* The only part answers a conversation: a list of messages with a role and a content, which is a text or a list of parts that are texts. */
bool srv_texts_add_messages(srv_call *call, const json_t *messages, const char *field);

/* Stop texts: one, or a list of them. Kept by the job. */
bool srv_texts_set_stops(srv_call *call, const json_t *stops);

/* A seed for texts whose request has none. */
uint64_t srv_random_seed(void);

/* "stop" or "length". */
const char *srv_finish_word(clf_finish finish);

/* Sums over all parts. */
size_t srv_texts_prompt_tokens(const srv_job *job);
size_t srv_texts_tokens(const srv_job *job);

#endif
