/* SPDX-License-Identifier: MIT */
/* Packs token ids into batches on the device: checks them and sends them in one transfer. Also sorts texts by length and splits the order
 * into batches. */
#ifndef CLFI_MODEL_PACKING_H
#define CLFI_MODEL_PACKING_H

#include "nn/network.h"

/* Tokens on the device, ready for a forward pass; borrowed from the packer until it packs again. */
typedef struct clf_token_batch {
    int32_t sequences;
    int32_t tokens;
    clf_view ids, type_ids, positions; /* i32 [tokens] */
    clf_view offsets;                  /* i32 [sequences + 1] */
    clf_attention_batch *attention;    /* which rows attend to which: each sequence to itself */
} clf_token_batch;

/* Memory that is reused from batch to batch. clfi_packer makes one without memory. */
typedef struct clf_packer {
    clf_context *context;           /* borrowed: the buffers keep it alive */
    clf_attention_batch *attention; /* NULL until sequences are packed */
    clf_buffer *buffer;
    int32_t *host;
    size_t capacity; /* int32 elements of both */
} clf_packer;

clf_packer clfi_packer(clf_context *context);
void clfi_packer_clear(clf_packer *packer); /* a zeroed one is accepted */

/* Packs sequences one after another without padding: sequence i is ids[offsets[i] .. offsets[i+1]), and the batch begins with
 * ids[offsets[0]]. Positions are counted as the embedding does (skips_padding). type_ids NULL: all 0. INVALID_ARGUMENT names the sequence
 * (as `what`: "sequence", "source") and the value: offsets that fall, a sequence longer than the embedding's positions, an id outside its
 * vocabulary or its types. */
clf_status clfi_pack_sequences(clf_packer *packer, const char *what, const clf_embedding_config *embedding, const int32_t *ids,
                               const int32_t *type_ids, const int32_t *offsets, size_t sequences, clf_token_batch *out);

/* INVALID_ARGUMENT "<what>: <kind> <id> at <place> ...": one of the ids is not in 0 .. limit - 1. With what "" the message begins with the
 * kind. */
clf_status clfi_check_ids(const char *what, const char *kind, const int32_t *ids, int64_t count, int64_t limit);

/* Packs tokens of sequences of one length: token i of `count` is at position (i / apart) % length. Sets neither offsets nor attention.
 * INVALID_ARGUMENT ("E_VALUE: what: ..."): the length exceeds the positions, an id is outside the vocabulary. UNSUPPORTED ("E_LIMIT"): 2^31
 * tokens or more. */
clf_status clfi_pack_even(clf_packer *packer, const char *what, const clf_embedding_config *embedding, const int32_t *ids, int64_t count,
                          int64_t apart, int64_t length, clf_token_batch *out);

/* Sends other values that go with tokens, such as tables of cache rows. clfi_packer_host gives room for `count` of them on the host; after
 * the caller has filled it, clfi_packer_send writes `count` of them to packer->buffer. */
clf_status clfi_packer_host(clf_packer *packer, size_t count, int32_t **out);
clf_status clfi_packer_send(clf_packer *packer, size_t count);

/* *out_order [count], which the caller frees: the indices by falling length, equal ones as they came, so that sequences of similar length
 * share a batch. */
typedef size_t (*clf_length_of)(const void *user, size_t index);
clf_status clfi_order_by_length(size_t count, clf_length_of length, const void *user, size_t **out_order);

/* Tokens of one forward pass over texts, if the caller gives no number. */
size_t clfi_batch_tokens(const clf_context *context);

/* Rising numbers of rows, from 1 to `most`. Passes with these numbers run all kernels that passes of up to `most` rows may run. All small
 * numbers are among them, because kernels for few rows may be made for a single number. */
size_t clfi_trial_count(size_t most);
size_t clfi_trial_rows(size_t index, size_t most);

/* How many of order[first ..] make the next batch: as many as have lengths that sum to at most `limit`, but at least one. */
size_t clfi_next_window(const size_t *order, size_t first, size_t count, size_t limit, clf_length_of length, const void *user);

#endif
