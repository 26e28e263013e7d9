/* SPDX-License-Identifier: MIT */
/* Transformer decoder: causal self-attention, attention to a memory, feed-forward network. It runs whole prefixes at once, or new tokens of
 * many sequences with the keys and values of earlier tokens from a cache. */
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

/* Makes room for the keys and values of `rows` memory rows in all layers. A buffer that is large enough is kept. Start from a zeroed
 * struct; release with clfi_decoder_memory_release. INVALID_ARGUMENT: the size overflows. OUT_OF_MEMORY. */
clf_status clfi_decoder_memory_reserve(clf_context *context, const clf_decoder *decoder, int64_t rows, clf_decoder_memory *memory);

/* Projects encoder outputs [rows,C] f32 into the reserved memory. Enqueued. */
clf_status clfi_decoder_memory_project(clf_context *context, const clf_decoder *decoder, const clf_view *outputs,
                                       clf_decoder_memory *memory);
void clfi_decoder_memory_release(clf_decoder_memory *memory);

/* Projects encoder outputs [n,C] f32 for every layer and stores them in the cache's rows `rows` (i32 [n]). Enqueued. */
clf_status clfi_decoder_source_store(clf_context *context, const clf_decoder *decoder, const clf_view *outputs, const clf_kv_cache *cache,
                                     const clf_view *rows);

/* Keys (part 0) or values (part 1) of a layer: [G,rows,D]. */
clf_view clfi_decoder_memory_view(const clf_decoder *decoder, const clf_decoder_memory *memory, int64_t layer, int part);

/* Runs layers 0..layer over one whole prefix and writes the attention weights of layer `layer` (f32, dense): those of the prefix to itself
 * [H,T,T], or with to_source those to the memory [H,T,rows]. x [T,C] f32 dense: embedded target tokens in, features out (after
 * final_norm). target and source: the prefix attends to itself (row i to rows 0..i) and to the rows of the memory. positions: i32 [T];
 * NULL if no layer has a rotary encoding. INVALID_ARGUMENT: layer outside 0..layer_count-1. Synchronous for a prefix's own weights if the
 * layer has a window or a bias, else enqueued. */
clf_status clfi_decoder_weights(clf_context *context, const clf_decoder *decoder, const clf_decoder_memory *memory,
                                const clf_attention_batch *target, const clf_attention_batch *source, const clf_view *positions,
                                int64_t layer, bool to_source, const clf_view *x, const clf_view *weights);

/* N new tokens, any number per sequence. Each layer stores all of them in the cache before the first one attends. A token attends to the
 * cache rows in its row of the table, which includes its own (a prompt's tokens have the same rows and rising counts). */
typedef struct clf_decoder_step {
    clf_kv_cache *cache;
    const clf_view *rows;          /* i32 [N,>=keys]: cache row of the j-th token that token n attends to */
    const clf_view *counts;        /* i32 [N]: number of tokens that token n attends to */
    int64_t keys;                  /* no fewer than the largest of `counts` */
    const clf_view *stored;        /* i32 [N]: cache rows of the new tokens */
    const clf_view *source_rows;   /* i32 [N,>=source_keys]: cache rows of the token's source; not read without source attention */
    const clf_view *source_counts; /* i32 [N]: number of source rows */
    int64_t source_keys;           /* no fewer than the largest of `source_counts` */
    const clf_view *positions;     /* i32 [N]; NULL if no layer has a rotary encoding */
} clf_decoder_step;

/* x [N,C] f32 dense: the embedded new tokens in, features out (after final_norm). Enqueued. */
clf_status clfi_decoder_step(clf_context *context, const clf_decoder *decoder, const clf_decoder_step *step, const clf_view *x);

#endif
