/* SPDX-License-Identifier: MIT */
/* Reads settings for generating text from a model's files, and applies their rules to logits. */
#ifndef CLFI_MODEL_GENERATION_CONFIG_H
#define CLFI_MODEL_GENERATION_CONFIG_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* When a source that has `width` finished hypotheses is done, by early_stopping. false: when its best open one is no better than the worst
 * finished one. true: at once. "never": when it would be no better even at the greatest length. */
typedef enum clf_beam_stop { CLF_BEAM_STOP_BEATEN, CLF_BEAM_STOP_FULL, CLF_BEAM_STOP_NEVER } clf_beam_stop;

typedef struct clf_generation_config {
    int32_t *ends; /* [end_count]: tokens that end texts */
    size_t end_count;
    int32_t start[2]; /* [start_count]: what the texts of an encoder-decoder begin with */
    size_t start_count;
    const char *forced_start_in; /* the file that has forced_bos_token_id; NULL: none */
    int32_t *banned;             /* [banned_count]: tokens that no text has */
    size_t banned_count;
    int32_t *banned_first; /* [banned_first_count]: tokens that no text begins with */
    size_t banned_first_count;
    int32_t *forced_ends; /* [forced_end_count]: one of them is the last token of a text of the greatest length; none: any token */
    size_t forced_end_count;
    size_t min_length;      /* an end token may come only after this many tokens, those before the text included */
    size_t min_new;         /* an end token may come only after this many tokens of the text itself */
    size_t no_repeat_ngram; /* above 0: no run of this many tokens occurs twice in a sequence */
    float repeat_penalty;   /* used where clf_generate_params has 0; 1: none */
    size_t repeat_window;   /* above 0: penalties hold for tokens among this many last ones of a text; 0: for all of its tokens */
    bool is_renormalised;   /* in a search, the probabilities of allowed tokens sum to 1 */
    size_t beams;           /* num_beams: hypotheses of a search; 1 where it is absent */
    float length_penalty;   /* of clf_beam_rules */
    clf_beam_stop stop;
} clf_generation_config;

/* Reads generation_config.json where `path` is a directory that has one, else config.json. Rules come from one of the two alone. Two keys
 * are looked for in both: eos_token_id (a number or a list) and what texts begin with. That is decoder_start_token_id, or bos_token_id if
 * the same file lacks it; config.json counts only if generation_config.json has neither. The rules are forced_bos_token_id, which comes
 * after the beginning, bad_words_ids (but tokens that end texts), suppress_tokens, begin_suppress_tokens, forced_eos_token_id, min_length
 * or in its place min_new_tokens, no_repeat_ngram_size and repetition_penalty; for searches num_beams, length_penalty, early_stopping and
 * renormalize_logits. The configuration that is made from a GGUF file may also have repetition_window. FORMAT: a token id that is not a
 * number from 0 on, or another value that a key cannot have. UNSUPPORTED: bad words of several tokens, or a key that
 * clfi_generation_config_refuses with a value that changes texts. Release with clfi_generation_config_free. */
clf_status clfi_generation_config_read(const char *path, const json_t *config, clf_generation_config *out);

/* Whether the key is a rule that is not supported: only a value that changes nothing is accepted. */
bool clfi_generation_config_refuses(const char *key);

/* A text that is being written: [count] tokens, the first `start` of which stand before it. is_last: the next token is the last one that
 * may come. */
typedef struct clf_text_state {
    const int32_t *tokens;
    size_t count, start;
    bool is_last;
} clf_text_state;

#define CLFI_IMPOSSIBLE (-1e30f) /* still finite after any penalty */

/* Sets logits (or log-probabilities) [vocabulary] of tokens that must not come next to CLFI_IMPOSSIBLE. */
void clfi_generation_config_constrain(const clf_generation_config *config, const clf_text_state *text, float *logits, size_t vocabulary);

/* Whether clfi_generation_config_constrain would change any logit. */
bool clfi_generation_config_constrains(const clf_generation_config *config, const clf_text_state *text);

/* How many of a text's `count` tokens, the last ones, a penalty of repetitions looks at. */
size_t clfi_generation_config_window(const clf_generation_config *config, size_t count);

/* FORMAT: nothing to start the texts of an encoder-decoder (has_source) with, or a token outside the vocabulary. UNSUPPORTED:
 * forced_bos_token_id of a model without an encoder, which transformers follows only in texts of one token. */
clf_status clfi_generation_config_check(const clf_generation_config *config, int64_t vocabulary, bool has_source);
void clfi_generation_config_free(clf_generation_config *config);

#endif
