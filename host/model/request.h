/* SPDX-License-Identifier: MIT */
/* One prompt that a language model continues: its own parameters, tokens, pending text, callback and result. A request knows nothing of the
 * requests that run beside it (model/scheduler.h), so that its failure, end or cancellation never touches them. */
#ifndef CLFI_MODEL_REQUEST_H
#define CLFI_MODEL_REQUEST_H

#include <stdatomic.h>

#include "base/str.h"
#include "clformer/chat.h"
#include "model/generation.h"
#include "model/sampler.h"

enum { CLFI_REQUEST_REASON_BYTES = 512 };

/* The prompt of a request: token ids if `ids` is not NULL, else a text. */
typedef struct clf_prompt {
    clf_text text;
    const int32_t *ids;
    size_t id_count;
} clf_prompt;

struct clf_request {
    clf_session *session;       /* borrowed */
    clf_generate_params params; /* what they point to is borrowed: stop texts, a sequence */
    clf_generate_callback on_step;
    void *user;
    size_t number;   /* clf_generated.prompt */
    int32_t *source; /* [source_count], of an encoder-decoder: the prompt's tokens */
    int32_t *tokens; /* [count]: prompt_count of the prompt (of an encoder-decoder: what texts begin with), then the text's */
    size_t source_count, prompt_count, count, capacity;
    size_t given;        /* how many of the tokens were given to the decoding batch: their keys and values are in its cache, or under way */
    size_t longest;      /* most tokens that `tokens` may hold */
    uint64_t turn;       /* the scheduler's: when it joined first, counted from 1 */
    int32_t sequence;    /* of the session's decoding batch; -1: none */
    int32_t end_of_turn; /* a token that ends this text beside those that end the model's texts; -1: none */
    clf_token_decoder *decoder;
    clf_str pending; /* decoded, but perhaps the beginning of a stop text */
    atomic_bool is_cancelled;
    clf_finish finish;                      /* NONE until the last call of on_step */
    clf_status status;                      /* if REFUSED: why, ... */
    char reason[CLFI_REQUEST_REASON_BYTES]; /* ... and the message */
};

/* Creates a request. params are checked here (clf_generate_params; beams at most 1, repeat_penalty 0 becomes the model's). The prompt's
 * bytes and ids are not needed afterwards. *out: the caller destroys it, after its last call. INVALID_ARGUMENT: a parameter, a prompt
 * without tokens or of more than the model's positions, an id outside the vocabulary. UNSUPPORTED: beams, a sequence of a model with an
 * encoder. */
clf_status clfi_request_create(clf_session *session, const clf_generate_params *params, const clf_prompt *prompt, size_t number,
                               clf_generate_callback on_step, void *user, clf_request **out);
void clfi_request_destroy(clf_request *request); /* NULL is a no-op. The request must not be in a scheduler */

/* Moves a request, which is in no scheduler, to another session of the same model, which continues its text. The session before may be
 * destroyed by then. INVALID_ARGUMENT: a request with a sequence. OUT_OF_MEMORY: then the request can only be destroyed. */
clf_status clfi_request_move(clf_request *request, clf_session *session);

/* Ends the request with CLF_FINISH_CALLER at the scheduler's next step. May be called from any thread. */
void clfi_request_cancel(clf_request *request);

/* clfi_request_wants: the logits that the choice of the next token needs. clfi_request_choose_best: that choice, as
 * clfi_sampler_choose_best makes it. */
clf_wanted_logits clfi_request_wants(const clf_request *request);
bool clfi_request_choose_best(const clf_request *request, clf_sampler *sampler, const clf_best *best, int32_t *out);

/* Chooses the next token from all its logits [vocabulary], which are changed. FORMAT: logits that are not finite. */
clf_status clfi_request_choose(clf_request *request, clf_sampler *sampler, float *logits, int32_t *out);

/* Takes a chosen token. on_step receives it with the text that is certain by now, unless the token ends the text. *out: why the text ends,
 * or NONE. If it ends, the caller calls clfi_request_end. */
clf_status clfi_request_push(clf_request *request, int32_t token, clf_finish *out);

/* Ends the text without a further token. *out: `finish`, or STOP if the rest that the decoder held completes a stop text. */
clf_status clfi_request_finish(clf_request *request, clf_finish finish, clf_finish *out);

/* Makes the last call of on_step, with the rest of the text; the request may be destroyed in it. With a status other than OK the finish is
 * CLF_FINISH_REFUSED, and the request keeps clf_last_error as its reason. */
void clfi_request_end(clf_request *request, clf_finish finish, clf_status status);

/* Checks parameters against a session's model, once for many requests, and fills in what the model decides. */
clf_status clfi_request_check(const clf_session *session, clf_generate_params *params);

#endif
