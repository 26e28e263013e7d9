/* SPDX-License-Identifier: MIT */
/* Greedy and beam search with an encoder-decoder: batches of sources, all state on the device, finished ones leave the batch. Greedy decoding is a beam of
 * width 1. */
#ifndef CLFI_MODEL_BEAM_SEARCH_H
#define CLFI_MODEL_BEAM_SEARCH_H

#include "nn/transformer.h"

enum { CLFI_BEAM_MOST = 64 };

/* Memory and settings of searches on one network; reused from batch to batch, so that batches no larger than earlier ones allocate nothing. */
typedef struct clf_beam_search clf_beam_search;

/* begin: the token that every target starts with; end: the one that ends it (and is part of the result). width 1 to 64. */
clf_status clfi_beam_search_create(const clf_transformer *network, int32_t begin, int32_t end, int32_t width, clf_beam_search **out);
void clfi_beam_search_destroy(clf_beam_search *search); /* NULL is a no-op */

/* One result, borrowed during the call. tokens: without `begin`, with `end` where has_ended. score: sum of the log-probabilities of the tokens. */
typedef struct clf_hypothesis {
    const int32_t *tokens;
    size_t count;
    float score;
    bool has_ended;
} clf_hypothesis;

/* Receives the hypotheses of source s, best first (rank 0 .. width-1, fewer where fewer were found). */
typedef clf_status (*clf_hypothesis_sink)(void *user, size_t source, size_t rank, const clf_hypothesis *hypothesis);

/* Searches all sources at once: source s is ids[offsets[s] .. offsets[s+1]), offsets[0] = 0. Each step extends every open hypothesis by every token and keeps
 * the best `width` extensions of each source; those that end join its finished ones. A source is done when it has no open hypothesis, or `width`
 * finished ones of which the last is no worse than the best open one; it then leaves the batch. At max_target - 1 tokens the search stops; a source without a
 * finished hypothesis then gives its best open one. Synchronous. INVALID_ARGUMENT: an id outside the vocabulary, a source longer than max_source. */
clf_status clfi_beam_search_run(clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t sources,
                                clf_hypothesis_sink sink, void *user);

/* What searches did so far, for reports and for tests of the caching. */
typedef struct clf_beam_stats {
    uint64_t sources, source_tokens;
    uint64_t steps;     /* decoder steps */
    uint64_t step_rows; /* tokens that they projected: each token of each hypothesis once */
} clf_beam_stats;
clf_beam_stats clfi_beam_search_stats(const clf_beam_search *search);

#endif
