/* SPDX-License-Identifier: MIT */
/* Results of a beam search, and counters of its work. */
#ifndef CLFI_MODEL_BEAM_HYPOTHESIS_H
#define CLFI_MODEL_BEAM_HYPOTHESIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clformer/status.h"

/* One result, borrowed during the call. tokens: without clf_beam_rules.begin, with the end token if has_ended. score: the sum of the
 * tokens' log-probabilities; of a finished hypothesis it is divided as clf_beam_rules.length_penalty says. */
typedef struct clf_hypothesis {
    const int32_t *tokens;
    size_t count;
    float score;
    bool has_ended;
} clf_hypothesis;

/* Receives the hypotheses of source s, best first (rank 0 .. width-1, fewer where fewer were found). */
typedef clf_status (*clf_hypothesis_sink)(void *user, size_t source, size_t rank, const clf_hypothesis *hypothesis);

/* Counters of searches, for reports and for tests of the caching. */
typedef struct clf_beam_stats {
    uint64_t sources, source_tokens;
    uint64_t steps;     /* decoder steps */
    uint64_t step_rows; /* rows of logits in these steps: one for each open hypothesis */
} clf_beam_stats;

#endif
