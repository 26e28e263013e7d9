/* SPDX-License-Identifier: MIT */
/* Conversations with language models: messages become a prompt through the chat template that the model's files come with, and the prompt
 * becomes a request, which runs alone or together with other requests. */
#ifndef CLFORMER_CHAT_H
#define CLFORMER_CHAT_H

#include "clformer/generate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A prompt that a session continues, with its own parameters, text and finish. */
typedef struct clf_request clf_request;

/* A message of a conversation. role: as the template knows it: "system", "user", "assistant", others in some models. */
typedef struct clf_message {
    const char *role;
    clf_text content;
} clf_message;

typedef struct clf_chat_params {
    size_t size;                         /* sizeof(clf_chat_params) */
    const clf_generate_params *generate; /* of the answer; NULL = defaults. beams at most 1 */
    int keeps_control;                   /* nonzero: control tokens that are written in messages are those tokens; 0: they are text like
                                            any other, and the template alone writes control tokens */
    int forgets;                         /* nonzero: questions with their answers are left out, the oldest first, until the prompt leaves
                                            room for max_tokens, or for a quarter of the model's positions where that is less. A first
                                            message of the system and the last message stay. 0: the prompt is taken as it is */
    size_t *forgotten;                   /* receives how many messages were left out; NULL = not wanted */
} clf_chat_params;

#define CLF_CHAT_PARAMS_INIT {.size = sizeof(clf_chat_params)}
CLF_API CLF_NODISCARD clf_status clf_chat_params_default(clf_chat_params *out, size_t size); /* clformer.h: options */

/* A request for the answer to a conversation. The prompt is what the model's chat template (chat_template.jinja, chat_template in
 * tokenizer_config.json, or tokenizer.chat_template of a GGUF file) makes of the messages, with the beginning of an answer. Its tokens are
 * exactly those of the template's text: no special tokens are put around it. Control tokens are the special ones, and of the other added
 * tokens those in tokenizer_config.json's chat_control_tokens or, without that key, in the template's own text. The answer ends at a token
 * that ends the model's texts (clf_model_end_tokens) and at the control token that the template writes after an assistant's message, if
 * there is one. Ill-formed UTF-8 in a message becomes U+FFFD. The messages are not needed afterwards; the parameters' stop texts and
 * sequence must live until the request has ended. With a sequence (clf_generate_params) only what is new in a conversation is computed.
 * *out: the caller destroys it. INVALID_ARGUMENT: a NULL, no messages, a parameter out of range. INVALID_ARGUMENT also: messages that the
 * template refuses (with its words), a control token in a message that cannot be written as text, a prompt without tokens or longer than
 * the model's positions. NOT_FOUND: the model's files have no chat template. FORMAT: a broken template. UNSUPPORTED: a template that uses
 * what is not supported (named), a model that does not generate text or that has an encoder, more than one beam. */
CLF_API CLF_NODISCARD clf_status clf_session_chat(clf_session *session, const clf_message *messages, size_t count,
                                                  const clf_chat_params *params, clf_generate_callback on_token, void *user,
                                                  clf_request **out);

/* Tokens of the request's prompt; 0 for NULL. */
CLF_API size_t clf_request_prompt_tokens(const clf_request *request);

/* Ends the request with CLF_FINISH_CALLER at the next step. May be called from any thread. NULL is a no-op. */
CLF_API void clf_request_cancel(clf_request *request);

/* Why the request has ended; NONE before, and for NULL. */
CLF_API clf_finish clf_request_finish(const clf_request *request);

/* Not to be called while the request is being run. NULL is a no-op. */
CLF_API void clf_request_destroy(clf_request *request);

/* Runs `count` requests of the session together to their ends: they join and leave one running batch. In the callbacks clf_generated.prompt
 * is the request's index. A request that fails by itself (logits that are not finite, no room on the device) ends as CLF_FINISH_REFUSED,
 * and the others go on. The call then returns the status and the reason of the first one, in their order. Synchronous. INVALID_ARGUMENT: a
 * NULL, a request of another session, one that has ended, one that is listed twice. Other statuses as clf_session_generate; a failure that
 * concerns all requests leaves those that had not ended without a last call. */
CLF_API CLF_NODISCARD clf_status clf_session_run_requests(clf_session *session, clf_request *const *requests, size_t count);

#ifdef __cplusplus
}
#endif
#endif
