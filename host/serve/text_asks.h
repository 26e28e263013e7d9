/* SPDX-License-Identifier: MIT */
/* Makes jobs for language models from prompts, conversations and sampling parameters of requests, for all dialects. */
#ifndef CLFI_SERVE_TEXT_ASKS_H
#define CLFI_SERVE_TEXT_ASKS_H

#include "serve/call.h"

enum { SRV_MOST_STOPS = 64, SRV_MOST_PROMPTS = 128 }; /* of one request */

/* Makes call->job, for `count` texts of the model with these parameters; the job takes over the call's body. */
bool srv_texts_begin(srv_call *call, const srv_model *model, const clf_generate_params *params, size_t count);

/* Sets the prompt of part `index`: a text, or token ids. field: name of the request's field, for messages. */
bool srv_texts_add_prompt(srv_call *call, size_t index, clf_text text, const char *field);
bool srv_texts_add_ids(srv_call *call, size_t index, const json_t *ids, const char *field);

/* Sets the prompt of the only part: a list of messages. Each has a role and a content, which is a text or a list of parts with texts. */
bool srv_texts_add_messages(srv_call *call, const json_t *messages, const char *field);

/* Sets the job's stop texts: one, or a list; NULL: none. They are borrowed from `stops`, which must be in the job's body. */
bool srv_texts_set_stops(srv_call *call, const json_t *stops);

/* A random seed below 2^63, for requests without a seed. */
uint64_t srv_random_seed(void);

/* "stop" or "length". */
const char *srv_finish_word(clf_finish finish);

/* Sums over all parts. */
size_t srv_texts_prompt_tokens(const srv_job *job);
size_t srv_texts_tokens(const srv_job *job);

#endif
