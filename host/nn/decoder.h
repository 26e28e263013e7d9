/* SPDX-License-Identifier: MIT */
/* Transformer decoder over packed sequences: causal self-attention, attention to a memory, feed-forward network. Whole prefixes at once, or
 * token by token with the keys and values of the past cached. */
#ifndef CLFI_NN_DECODER_H
#define CLFI_NN_DECODER_H

#include "nn/kv_cache.h"
#include "op/attention.h"

/* A stack whose layers attend to a memory. */
typedef clf_stack clf_decoder;

/* Keys and values of a memory, projected once for all layers and steps. */
typedef struct clf_decoder_memory {
    clf_buffer *buffer; /* [layers][2G][rows][D]; NULL until it is reserved */
    int64_t rows;
} clf_decoder_memory;

/* Room for the keys and values of `rows` memory rows of all layers; keeps its buffer where that is large enough. Start from a zeroed
 * struct; release with clfi_decoder_memory_release. */
clf_status clfi_decoder_memory_reserve(clf_context *context, const clf_decoder *decoder, int64_t rows, clf_decoder_memory *memory);

/* Projects encoder outputs [rows,C] f32 into it. Enqueued. */
clf_status clfi_decoder_memory_project(clf_context *context, const clf_decoder *decoder, const clf_view *outputs,
                                       clf_decoder_memory *memory);
void clfi_decoder_memory_release(clf_decoder_memory *memory);

/* Projects encoder outputs [n,C] f32 into rows of a cache (i32 [n]), every layer's in its part. Enqueued. */
clf_status clfi_decoder_source_store(clf_context *context, const clf_decoder *decoder, const clf_view *outputs, const clf_kv_cache *cache,
                                     const clf_view *rows);

/* Keys (part 0) or values (part 1) of a layer: [G,rows,D]. */
clf_view clfi_decoder_memory_view(const clf_decoder *decoder, const clf_decoder_memory *memory, int64_t layer, int part);

/* One whole prefix, up to layer `layer`, whose attention weights are written: those of the prefix to itself [H,T,T], or with to_source
 * those to the memory [H,T,rows]; f32, dense. x [T,C] f32 dense: embedded target tokens in, features out (after final_norm). target: the
 * prefix among the rows of x (row i sees rows 0..i); source: that it attends to the rows of the memory. positions: i32 [T], NULL where no
 * layer turns by them. INVALID_ARGUMENT: layer outside 0..layer_count-1. Enqueued. */
clf_status clfi_decoder_weights(clf_context *context, const clf_decoder *decoder, const clf_decoder_memory *memory,
                                const clf_attention_batch *target, const clf_attention_batch *source, const clf_view *positions,
                                int64_t layer, bool to_source, const clf_view *x, const clf_view *weights);

/* N more tokens, any number for each sequence. All of them are stored in the cache before the first one attends. Each sees the tokens of
 * its table of cache rows, itself among them (a prompt's tokens share a table and have rising counts). */
typedef struct clf_decoder_step {
    clf_kv_cache *cache;
    const clf_view *rows;          /* i32 [N,>=keys]: cache row of the j-th token that token n sees */
    const clf_view *counts;        /* i32 [N]: how many it sees */
    int64_t keys;                  /* no fewer than the largest of `counts` */
    const clf_view *stored;        /* i32 [N]: cache rows of the new tokens */
    const clf_view *source_rows;   /* i32 [N,>=source_keys]: cache rows of its source; not read where the stack attends to none */
    const clf_view *source_counts; /* i32 [N]: number of them */
    int64_t source_keys;           /* no fewer than the largest of `source_counts` */
    const clf_view *positions;     /* i32 [N]; NULL where no layer turns by them */
} clf_decoder_step;

/* x [N,C]: the embedded new tokens in, features out. Projects these N tokens and nothing else; they attend to the cache.
 * Enqueued. */
clf_status clfi_decoder_step(clf_context *context, const clf_decoder *decoder, const clf_decoder_step *step, const clf_view *x);

#endif
