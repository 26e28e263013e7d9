/* SPDX-License-Identifier: MIT */
/* Text from language models: decoders with a head, continued token by token with cached keys and values. An encoder-decoder (T5, Marian,
 * BART) reads the prompt as its source; the text is what its decoder makes of it, after the tokens that its files start texts with. */
#ifndef CLFORMER_GENERATE_H
#define CLFORMER_GENERATE_H

#include "clformer/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sequence: tokens, with their keys and values of every layer in its session's cache. Destroyed before the session is; used by its
 * session's thread alone. */
typedef struct clf_sequence clf_sequence;

/* How the next token is chosen from logits z, in this order:
 *   repeat_penalty  z of tokens that are already in the prompt or its text: z / penalty above 0, z * penalty below (Keskar et al. 2019)
 *   temperature     p = softmax(z / temperature); 0: the largest z, of equal ones the lowest id, and nothing below applies
 *   top_k           the k most probable
 *   top_p           of these, renormalised, the fewest that come to top_p together, and at least one (Holtzman et al. 2020)
 *   min_p           of these, those at least min_p times as probable as the most probable
 *   seed            one of these at random: the random numbers depend on the seed and on how many tokens came before, not on the batch
 * The device finds the largest logits, and the host reads these alone. The host reads all logits of a token in three cases: a penalty,
 * tokens that the model's files forbid or force there, and chance with neither a top_k below 1024 nor a top_p below 1.
 *
 * With several beams whole texts are compared instead. Each step keeps the most probable beginnings, as many as there are beams. A text's
 * score is its sum of log p divided by (its number of tokens)^length_penalty, and the text with the largest score is reported when the
 * search is over. early_stopping says when that is. Both settings are those of the model's files, 1 and false where they have none. */
typedef struct clf_generate_params {
    size_t size;          /* sizeof(clf_generate_params) */
    size_t max_tokens;    /* longest text; at least 1 */
    float temperature;    /* at least 0 */
    size_t top_k;         /* 0: all */
    float top_p;          /* 0 to 1; 1: all; 0: the most probable alone, as temperature 0 */
    float min_p;          /* 0 to 1; 0: all */
    float repeat_penalty; /* above 0; 1: none; 0: as the model's files say (repetition_penalty), in beam searches too */
    uint64_t seed;
    const clf_text *stops; /* [stop_count], none empty: a text ends before the first of these */
    size_t stop_count;
    int no_special_tokens; /* nonzero: a prompt gets no special tokens around it */
    int ignore_special;    /* nonzero: control tokens written in a prompt are text like any other */
    size_t batch;          /* prompts that run together; 0 = 16 */
    size_t *failed_text;   /* receives the index of the prompt or text that a call failed at (the message then leaves the index out); else
                              the number of texts; NULL = not wanted */
    size_t beams;          /* 1 to 64; above 1: a beam search, for encoder-decoders only. 0: as many as an encoder-decoder's files say
                              (num_beams), and 1 beside a temperature or a penalty */
    /* A sequence of the session, for one prompt: tokens at the prompt's beginning that the sequence already has are not computed again.
     * Afterwards it has the prompt and its text except the last token. A call that fails after its parameters were taken leaves it empty.
     * NULL: none. */
    clf_sequence *sequence;
    /* Called now and then. clf_session_logits counts texts, clf_session_perplexity counts tokens; clf_session_generate reports its steps to
     * on_token instead. NULL: not wanted. */
    clf_progress progress;
    void *progress_user;
    /* For clf_session_generate. Nonzero: a prompt that is refused (no tokens, more than the positions, an expression of the tokenizer that
       takes too long) ends as CLF_FINISH_REFUSED, and the others go on. 0: the call ends there. */
    int skip_refused;
    /* Grows by the texts of more tokens than clf_model_info.max_tokens. Models with buckets of distances (T5) read texts of any length, and
     * do worse beyond what they were made for; other models refuse texts of more than max_positions. NULL: not wanted. */
    size_t *long_texts;
} clf_generate_params;

#define CLF_GENERATE_PARAMS_INIT                                                          \
    {                                                                                     \
        .size = sizeof(clf_generate_params), .max_tokens = 128, .top_p = 1.0f, .beams = 1 \
    }
CLF_API CLF_NODISCARD clf_status clf_generate_params_default(clf_generate_params *out, size_t size); /* clformer.h: options */

/* Why a text ends. STOP: a token that ends texts, or a stop text. LENGTH: max_tokens or the model's positions. CALLER: the callback or
 * clf_request_cancel. REFUSED: with skip_refused a prompt that is refused, or a request that failed by itself (chat.h). A refused prompt
 * gets only this call, and clf_last_error has the reason during it. */
typedef enum clf_finish { CLF_FINISH_NONE, CLF_FINISH_STOP, CLF_FINISH_LENGTH, CLF_FINISH_CALLER, CLF_FINISH_REFUSED } clf_finish;

/* A step of one text. */
typedef struct clf_generated {
    size_t prompt;     /* index of its prompt */
    int32_t token;     /* the chosen token; -1: none, the text is at its end */
    clf_text text;     /* what is certain by now and was not given out before: whole characters of UTF-8, without NUL; may be empty */
    clf_finish finish; /* NONE while the text goes on. Else token is -1, and this is the last call for this prompt */
} clf_generated;

/* Called for every token, and once for each prompt's end. Nonzero: the text of this prompt ends here. */
typedef int (*clf_generate_callback)(void *user, const clf_generated *step);

/* Continues `count` prompts as they stand, without a chat template. They run as one batch: each joins and leaves by itself, with tokens as
 * it would have alone (up to rounding: 1e-4 of logits). The pieces of a prompt's text are its tokens decoded after the prompt; a token
 * that ends texts is neither reported nor part of the text, and neither is anything after a stop text. params NULL = defaults. Synchronous.
 * INVALID_ARGUMENT: a NULL, a parameter out of range or NaN, beams together with a temperature or a penalty. INVALID_ARGUMENT also: a
 * sequence with several prompts or of another session, a prompt without tokens or of more than the model's positions (named). UNSUPPORTED:
 * a model that does not generate text, several beams of a model without an encoder, a sequence of a model that has one, a num_beams above
 * 64. FORMAT: logits that are not finite (the prompt named). Unlike embeddings they are not computed again on the portable engines, because
 * the session's cache already holds what other engines computed of the text. OUT_OF_MEMORY: the device has no room for the keys and values
 * of a prompt and of max_tokens after it. This is reported before any work on the prompt, with the number of tokens that have room.
 * Prompts that have no room beside others wait for them. */
CLF_API CLF_NODISCARD clf_status clf_session_generate(clf_session *session, const clf_text *prompts, size_t count,
                                                      const clf_generate_params *params, clf_generate_callback on_token, void *user);

/* Logits of the token after each text, out[i * V + v] (V: clf_model_info.vocabulary). For an encoder-decoder they are those of the
 * first token that it writes for the text. The call reads only special tokens, failed_text, long_texts and progress of params. Statuses as
 * clf_session_generate; CANCELLED: by progress. */
CLF_API CLF_NODISCARD clf_status clf_session_logits(clf_session *session, const clf_text *texts, size_t count,
                                                    const clf_generate_params *params, float *out);

/* Perplexity of a text: exp of the mean of -log p(token | those before it in its window). The text's tokens are divided into windows of
 * `window` tokens, one after another; the first token of a window is only read. Sums in double. If the tokenizer splits texts between words
 * (byte-level BPE), memory beside the text is that of one window, else that of all tokens. *out_tokens: how many were predicted; may be
 * NULL. params as clf_session_logits. Statuses as clf_session_logits; UNSUPPORTED also: an encoder-decoder. INVALID_ARGUMENT also: a window
 * below 2 or above the model's positions, a text of fewer than two tokens. */
CLF_API CLF_NODISCARD clf_status clf_session_perplexity(clf_session *session, const clf_text *text, size_t window,
                                                        const clf_generate_params *params, double *out, size_t *out_tokens);

/* The parts that clf_session_generate is made of, for loops of a caller's own.
 *
 * A sequence without tokens. INVALID_ARGUMENT: a NULL. UNSUPPORTED: a model that does not generate text. */
CLF_API CLF_NODISCARD clf_status clf_sequence_create(clf_session *session, clf_sequence **out);

/* A new sequence with the tokens of another, and its source: both use the same cache for them, nothing is computed or copied.
 * INVALID_ARGUMENT: a NULL. */
CLF_API CLF_NODISCARD clf_status clf_sequence_fork(const clf_sequence *sequence, clf_sequence **out);

/* Forgets all tokens but the first `length`: as if the others had never been given. INVALID_ARGUMENT: a NULL, fewer than `length`
 * tokens. */
CLF_API CLF_NODISCARD clf_status clf_sequence_keep(clf_sequence *sequence, size_t length);

/* Tokens so far; 0 for NULL. */
CLF_API size_t clf_sequence_length(const clf_sequence *sequence);

/* Gives its part of the cache back to the session, for other sequences. NULL is a no-op. */
CLF_API void clf_sequence_destroy(clf_sequence *sequence);

/* Gives an encoder-decoder's sequence its source text. Call it once, before any token; the tokens then begin with those of
 * clf_model_start_tokens. Enqueued. INVALID_ARGUMENT: a NULL, a decoder without source, a sequence that has one, no tokens, more than the
 * encoder's positions, an id outside the vocabulary. */
CLF_API CLF_NODISCARD clf_status clf_sequence_set_source(clf_sequence *sequence, const int32_t *tokens, size_t count);

/* The tokens that follow those a sequence has. */
typedef struct clf_sequence_tokens {
    clf_sequence *sequence;
    const int32_t *tokens;
    size_t count; /* at least 1 */
} clf_sequence_tokens;

/* Gives tokens to `count` sequences of the session, each of them once: prompts, single steps, or some of both, which run together. logits,
 * in the host's memory, belong to the token that would come next; V = clf_model_info.vocabulary. With is_all 0 they are [count, V]: one row
 * after each sequence's last token. Else they are [tokens, V]: one row after each token given, in the order of the inputs. Synchronous.
 * INVALID_ARGUMENT names the input: a NULL, another session's, given twice, no tokens, an id outside the vocabulary, more tokens than
 * positions, no source where one is needed. FORMAT: logits that are not finite. OUT_OF_MEMORY: keys and values of all the session's tokens
 * have no room. On failure every sequence has the tokens that it had before; after DEVICE_LOST it has none (clf_context_params.recovers:
 * once the session is used again, else for ever). */
CLF_API CLF_NODISCARD clf_status clf_session_run_sequences(clf_session *session, const clf_sequence_tokens *inputs, size_t count,
                                                           int is_all, float *logits);

/* Chooses the next token from logits [vocabulary] by the rules of clf_generate_params. Logits of a model's banned tokens count as the
 * smallest; penalised logits are changed in place. tokens [count]: those so far, for the penalty; step: how many of them were chosen, for
 * the seed. INVALID_ARGUMENT: a NULL, a parameter out of range, a token outside the vocabulary. FORMAT: a logit is not finite. */
CLF_API CLF_NODISCARD clf_status clf_model_choose_token(const clf_model *model, const clf_generate_params *params, float *logits,
                                                        const int32_t *tokens, size_t count, size_t step, int32_t *out);

/* Tokens that end texts, and tokens that an encoder-decoder's texts begin with, as the model's files say. If there are none, or model is
 * NULL: *count 0, and NULL is returned. count may be NULL. Borrowed from the model. */
CLF_API const int32_t *clf_model_end_tokens(const clf_model *model, size_t *count);
CLF_API const int32_t *clf_model_start_tokens(const clf_model *model, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
