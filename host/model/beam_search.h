/* SPDX-License-Identifier: MIT */
/* Greedy and beam search with an encoder-decoder: a chooser for the decoding loop whose hypotheses are sequences of a decode batch. Greedy
 * decoding is a beam of width 1. */
#ifndef CLFI_MODEL_BEAM_SEARCH_H
#define CLFI_MODEL_BEAM_SEARCH_H

#include "model/beam_hypothesis.h"
#include "model/generation_config.h"
#include "nn/network.h"

enum { CLFI_BEAM_MOST = 64 };

/* Memory and settings of searches on one network; reused from batch to batch, so that batches no larger than earlier ones allocate
 * nothing. */
typedef struct clf_beam_search clf_beam_search;

/* The rules of a search. Its pointers are borrowed for as long as the search lives. */
typedef struct clf_beam_rules {
    int32_t width;        /* open hypotheses of a source: 1 to 64 */
    const int32_t *begin; /* [begin_count], at least one: what every target starts with */
    size_t begin_count;
    const int32_t *ends; /* [end_count]: tokens that end a target, and are part of the result */
    size_t end_count;
    size_t longest;       /* tokens of a result; 0: as many as there are positions */
    float length_penalty; /* p: the score of a finished hypothesis is divided by n^p; n counts its tokens and those of `begin` except the
                             first */
    float repeat_penalty; /* penalty of tokens that the target already has (clf_generate_params), used with config only; 1 or 0: none */
    clf_beam_stop stop;   /* when a source with `width` finished hypotheses is done */
    bool is_refilled;     /* as transformers searches: extensions that end take no place from those that go on, and count only among the
                             `width` best; hypotheses of the greatest length count as finished */
    const clf_generation_config *config; /* which tokens may come next; NULL: all */
} clf_beam_rules;

/* context: the network's, or one that shares its cl_context. INVALID_ARGUMENT: a width out of range, no `begin`, no source. */
clf_status clfi_beam_search_create(clf_context *context, const clf_network *network, const clf_beam_rules *rules, clf_dtype cache,
                                   clf_beam_search **out);
void clfi_beam_search_destroy(clf_beam_search *search); /* NULL is a no-op */

/* Searches all sources together: source s is ids[offsets[s] .. offsets[s+1]), offsets[0] = 0. Each step extends every open hypothesis by
 * every token and keeps the best `width` extensions of each source; those that end join its finished ones. A source is done when it has no
 * open hypothesis, when rules.stop says so, or at the greatest length. It then leaves the batch, and the sink receives its finished
 * hypotheses, or its best open one if none has finished. Synchronous. INVALID_ARGUMENT: an id outside the vocabulary, a source longer than
 * the encoder's positions. FORMAT: a log-probability is not finite. */
clf_status clfi_beam_search_run(clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t sources,
                                clf_hypothesis_sink sink, void *user);

/* Finds the kernels that clfi_beam_search_run needs for these sources, before the first of them is compiled. No-op after a success, until
 * the device is lost. The search does this itself; a caller that does it earlier can load the weights again if it fails. */
clf_status clfi_beam_search_rehearse(clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t sources);

/* Counters of its searches. */
clf_beam_stats clfi_beam_search_stats(const clf_beam_search *search);

#endif
