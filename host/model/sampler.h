/* SPDX-License-Identifier: MIT */
/* Chooses the next token from logits, by clf_generate_params. */
#ifndef CLFI_MODEL_SAMPLER_H
#define CLFI_MODEL_SAMPLER_H

#include <stdbool.h>

#include "clformer/generate.h"

/* Memory for choices from one vocabulary; a choice does not depend on earlier ones. */
typedef struct clf_sampler clf_sampler;

clf_status clfi_sampler_create(size_t vocabulary, clf_sampler **out);
void clfi_sampler_destroy(clf_sampler *sampler); /* NULL is a no-op */

/* INVALID_ARGUMENT names the parameter. */
clf_status clfi_sampler_check(const clf_generate_params *params);

/* Chooses a token from logits [vocabulary], which the penalty changes, by checked parameters. tokens [count]: those that are penalised, of
 * prompt and text; `step` tokens were chosen before. FORMAT: a logit is not finite. */
clf_status clfi_sampler_choose(clf_sampler *sampler, const clf_generate_params *params, float *logits, const int32_t *tokens, size_t count,
                               size_t step, int32_t *out);

/* The part of a row of logits z that a choice needs: its `best` largest ones, and with a scale above 0 the sum of
 * exp(scale * (z - largest)) over all. best 0: all logits. */
typedef struct clf_wanted_logits {
    size_t best;
    float scale;
} clf_wanted_logits;

/* All logits (best 0) are needed with a penalty of repetitions, with chance and a top_k of CLF_TOP_K_MAX or more, and with chance and
 * neither a top_k nor a top_p below 1. */
clf_wanted_logits clfi_sampler_wants(const clf_generate_params *params);

/* The largest logits of a row in falling order, equal ones by rising token, all finite; `count` is the vocabulary where that has fewer than
 * are wanted. */
typedef struct clf_best {
    const float *logits; /* [count] */
    const int32_t *tokens;
    size_t count;
    float sum; /* with has_sum: as clf_wanted_logits says, to 1e-5 */
    bool has_sum;
} clf_best;

/* The token that clfi_sampler_choose would take from all logits, where no penalty changes them. False: these do not decide it (a nucleus
 * of more tokens, or one whose end is too close to tell; equal weights at the end of top_k). */
bool clfi_sampler_choose_best(clf_sampler *sampler, const clf_generate_params *params, const clf_best *best, size_t step, int32_t *out);

/* Penalises each of `tokens` once: logits or logarithms of probabilities above 0 are divided by the penalty, others multiplied.
 * is_seen: [vocabulary], all false before and after. */
void clfi_penalise_repeated(float penalty, const int32_t *tokens, size_t count, float *logits, bool *is_seen);

/* The index of the first of the largest values, of which there is at least one; any index if some are not numbers. */
size_t clfi_find_largest(const float *values, size_t count);

#endif
