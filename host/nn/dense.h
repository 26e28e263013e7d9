/* SPDX-License-Identifier: MIT */
/* Passes over dense batches [N,L,C] or [L,N,C] with masks of every kind: what the public Transformer takes. */
#ifndef CLFI_NN_DENSE_H
#define CLFI_NN_DENSE_H

#include "clformer/transformer.h"
#include "nn/decoder.h"

/* One attention's masks over scores [N,H,Q,K]. */
typedef struct clf_dense_masks {
    clf_view mask, padding, attention; /* broadcast to the scores; buffer NULL: none */
    bool is_causal;
    clf_empty_rows empty_rows;
} clf_dense_masks;

/* masks NULL: none. `what` opens messages. INVALID_ARGUMENT ("E_SHAPE: ...", "E_DTYPE: ..."). */
clf_status clfi_dense_masks_bind(clf_context *context, const char *what, clf_layout layout, const clf_attention_masks *masks, int64_t batch,
                                 int64_t heads, int64_t queries, int64_t keys, clf_dense_masks *out);

typedef struct clf_dense_batch {
    clf_layout layout;
    int64_t batch, length;            /* N, and L of the rows that run */
    const clf_dense_masks *self;
    const clf_decoder_memory *memory; /* of decoders: projected rows in the same layout */
    int64_t memory_length;            /* S */
    const clf_dense_masks *source;
} clf_dense_batch;

/* x [N*L,C] f32 dense, rows in the layout's order, in place. Enqueued. */
clf_status clfi_dense_forward(clf_context *context, const clf_stack *stack, const clf_dense_batch *batch, const clf_view *x);

#endif
