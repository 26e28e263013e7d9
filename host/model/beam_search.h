/* SPDX-License-Identifier: MIT */
/* Greedy and beam search with an encoder-decoder: a chooser for the decoding loop whose hypotheses are sequences of a decode batch. Greedy
 * decoding is a beam of width 1. */
#ifndef CLFI_MODEL_BEAM_SEARCH_H
#define CLFI_MODEL_BEAM_SEARCH_H

#include "model/beam_hypothesis.h"
#include "nn/network.h"

enum { CLFI_BEAM_MOST = 64 };

/* Memory and settings of searches on one network; reused from batch to batch, so that batches no larger than earlier ones allocate
 * nothing. */
typedef struct clf_beam_search clf_beam_search;

/* context: the network's, or one that shares its cl_context. begin: the token that every target starts with; end: the one that ends it (and
 * is part of the result). width 1 to 64. */
clf_status clfi_beam_search_create(clf_context *context, const clf_network *network, int32_t begin, int32_t end, int32_t width,
                                   clf_beam_search **out);
void clfi_beam_search_destroy(clf_beam_search *search); /* NULL is a no-op */

/* Searches all sources together: source s is ids[offsets[s] .. offsets[s+1]), offsets[0] = 0. Each step extends every open hypothesis by
 * every token and keeps the best `width` extensions of each source; those that end join its finished ones. A source is done when it has no
 * open hypothesis, or `width` finished ones of which the last is no worse than the best open one; it then leaves the batch, and its
 * hypotheses are handed on. At max_target - 1 tokens it is done too, and gives its best open hypothesis if none has finished. Synchronous.
 * INVALID_ARGUMENT: an id outside the vocabulary, a source longer than max_source. */
clf_status clfi_beam_search_run(clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t sources,
                                clf_hypothesis_sink sink, void *user);

/* What its searches did so far. */
clf_beam_stats clfi_beam_search_stats(const clf_beam_search *search);

#endif
