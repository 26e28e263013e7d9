/* SPDX-License-Identifier: MIT */
/* Memory of a beam search: what lies on the device, how a batch gets there, and how its results come back. */
#ifndef CLFI_MODEL_BEAM_WORKSPACE_H
#define CLFI_MODEL_BEAM_WORKSPACE_H

#include "kernel/beam.h"
#include "model/beam_hypothesis.h"
#include "model/packing.h"
#include "nn/network.h"

typedef struct clf_beam_search {
    const clf_network *network; /* borrowed */
    int32_t begin, end, width, steps;
    clf_beam_shape shape; /* of the batch at hand */
    int32_t longest_source;
    clf_packer packer; /* of sources for the encoder */
    clf_decoder_memory memory;
    clf_kv_cache cache;
    clf_beam_state state[2];
    int current; /* which of them the next step reads */
    clf_beam_record record;
    clf_buffer *keep;      /* i32: places of the sources that stay */
    clf_buffer *positions; /* i32: 0, 1, 2 ... */
    size_t capacity;        /* sources in all other buffers */
    int32_t *host_ints;     /* scratch of host_count values */
    size_t host_count;
    clf_beam_stats stats;
} clf_beam_search;

void clfi_beam_workspace_clear(clf_beam_search *search);

/* Checks the sources, encodes them and projects the memory; empties cache and record. */
clf_status clfi_beam_workspace_begin(clf_beam_search *search, const int32_t *ids, const int32_t *offsets, size_t sources);

/* State before the first step: `hypotheses` of each source that hold `begin`, of which the first counts. */
clf_status clfi_beam_workspace_first_step(clf_beam_search *search, const int32_t *offsets, int64_t hypotheses);

/* Reads the record and hands every source's hypotheses on; last_step: the last one taken. */
clf_status clfi_beam_workspace_results(clf_beam_search *search, int32_t last_step, size_t sources, clf_hypothesis_sink sink, void *user);

#endif
