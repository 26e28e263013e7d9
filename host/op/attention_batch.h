/* SPDX-License-Identifier: MIT */
/* The struct behind clf_attention_batch, for attention.c. */
#ifndef CLFI_OP_ATTENTION_BATCH_H
#define CLFI_OP_ATTENTION_BATCH_H

#include "kernel/attention.h"
#include "op/attention.h"

struct clf_attention_batch {
    clf_context *context;      /* retained */
    clf_attention_span *spans; /* scratch memory of clfi_attention_batch_set */
    size_t span_capacity;
    clf_attention_tile *tiles;
    size_t tile_capacity;
    clf_buffer *buffer; /* NULL until the first non-empty batch */
    int32_t sequences, tile_count, tile_queries;
    int32_t max_keys;     /* most keys of one sequence */
    int32_t q_end, k_end; /* least rows that q and k must have */
};

#endif
