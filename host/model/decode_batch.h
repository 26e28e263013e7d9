/* SPDX-License-Identifier: MIT */
/* A decode batch: sequences that are decoded together with cached keys and values. Each has its own length. It may join at any pass with a
 * prompt of any length, and its cache rows are used again when it ends. If the decoder attends to a source, each sequence has a
 * source, whose keys and values lie in rows of the same cache. */
#ifndef CLFI_MODEL_DECODE_BATCH_H
#define CLFI_MODEL_DECODE_BATCH_H

#include "model/packing.h"

enum {
    CLFI_PASS_TOKENS = 256,   /* tokens of one pass, unless the caller says otherwise */
    CLFI_LOGIT_TOKENS = 64,   /* tokens of one pass that gives logits after each */
    CLFI_BATCH_SEQUENCES = 16 /* sequences that run together, unless the caller says otherwise */
};

typedef struct clf_decode_batch clf_decode_batch;

/* context: the network's, or one that shares its cl_context. cache: the element type of keys and values, f32, f16, or u8 for q8_0
 * (kernel/kv_cache.h). *out: the caller destroys it before the network. INVALID_ARGUMENT: the network has no decoder with embedding and
 * generator, or its decoder attends to sources and it has no encoder of them. */
clf_status clfi_decode_create(clf_context *context, const clf_network *network, clf_dtype cache, clf_decode_batch **out);
void clfi_decode_destroy(clf_decode_batch *batch); /* NULL is a no-op */

clf_context *clfi_decode_context(const clf_decode_batch *batch);

/* Makes new memory and graphs after the context was opened again. Sequences stay open, without tokens or sources. If it fails, call it
 * again before anything else. */
clf_status clfi_decode_restart(clf_decode_batch *batch);

/* Drops all sequences, and encodes sources for those to come: source s is ids[offsets[s] .. offsets[s+1]), offsets[0] = 0.
 * INVALID_ARGUMENT: the decoder attends to none, offsets that fall, a source longer than the encoder's positions, an id outside its
 * vocabulary. */
clf_status clfi_decode_set_sources(clf_decode_batch *batch, const int32_t *ids, const int32_t *offsets, size_t count);

/* Opens a sequence without tokens. Numbers of dropped sequences are used again. */
clf_status clfi_decode_open(clf_decode_batch *batch, int32_t *out_sequence);

/* Opens a sequence without tokens that attends to source `source`. INVALID_ARGUMENT: there is no source of that number. */
clf_status clfi_decode_open_on(clf_decode_batch *batch, int32_t source, int32_t *out_sequence);

/* Opens a sequence with the tokens and the source of another; both use the same cache rows for them. */
clf_status clfi_decode_fork(clf_decode_batch *batch, int32_t sequence, int32_t *out_sequence);

/* Forgets all tokens but the first `length`. INVALID_ARGUMENT: it has fewer. */
clf_status clfi_decode_keep(clf_decode_batch *batch, int32_t sequence, int32_t length);

/* Ends a sequence. INVALID_ARGUMENT: there is none of that number. */
clf_status clfi_decode_drop(clf_decode_batch *batch, int32_t sequence);
void clfi_decode_drop_all(clf_decode_batch *batch);

/* Tokens of a sequence so far; 0 where there is none of that number. */
int32_t clfi_decode_length(const clf_decode_batch *batch, int32_t sequence);

/* Whether a sequence that is there has no source yet, and needs one before its first token. */
bool clfi_decode_lacks_source(const clf_decode_batch *batch, int32_t sequence);

/* Input of one sequence for a pass: one or more tokens that follow those it has. */
typedef struct clf_decode_input {
    int32_t sequence;
    const int32_t *tokens;
    int32_t count;
} clf_decode_input;

/* Gives each input's sequence its source: the input's tokens. Sources are encoded together, in passes of a size that suits the device.
 * Enqueued. INVALID_ARGUMENT names the sequence or the source: the decoder attends to none, a sequence that has a source, more tokens than
 * the encoder's positions, an id outside its vocabulary. On failure some sequences may have got their source. */
clf_status clfi_decode_sources(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count);

/* One causal pass over the new tokens of `count` sequences, each of them once: a step, a prompt, or some of both. logits [count,V] f32, a
 * temporary of the context's arena: for the token after each sequence's last. Enqueued. INVALID_ARGUMENT names the sequence: not there or
 * twice, no tokens, an id outside the vocabulary, more tokens than positions, no source where the decoder attends to one; then nothing has
 * changed. */
clf_status clfi_decode_run(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, clf_view *logits);

/* clfi_decode_run with logits [tokens,V], one row for the token after every new one, in the order of the inputs. */
clf_status clfi_decode_run_all(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, clf_view *logits);

/* Reserves memory for `rows` cache rows, and for passes of `tokens` tokens whose sequences have at most `longest` tokens. Passes within
 * these sizes do not allocate it. */
clf_status clfi_decode_reserve(clf_decode_batch *batch, int64_t rows, size_t tokens, size_t longest);

/* clfi_decode_reserve. If no cache row was used yet, it also writes to the cache once, so that the system really provides the memory. */
clf_status clfi_decode_hold(clf_decode_batch *batch, int64_t rows, size_t tokens, size_t longest);

/* used: cache rows that sequences use now; most: cache rows that were ever used at once. */
typedef struct clf_decode_usage {
    int64_t used, most;
} clf_decode_usage;
clf_decode_usage clfi_decode_usage(const clf_decode_batch *batch);

/* Cache rows in use, without two kinds of rows of this sequence: those of its first `kept` tokens, and those that no other sequence
 * uses. */
int64_t clfi_decode_rows_beside(const clf_decode_batch *batch, int32_t sequence, int32_t kept);

#endif
