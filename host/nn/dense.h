/* SPDX-License-Identifier: MIT */
/* Runs stacks over dense batches [N,L,C] or [L,N,C] for the public Transformer. */
#ifndef CLFI_NN_DENSE_H
#define CLFI_NN_DENSE_H

#include "clformer/transformer.h"
#include "nn/decoder.h"
#include "op/dense_attention.h"

typedef struct clf_dense_batch {
    clf_layout layout;
    int64_t batch, length; /* N and L of x */
    const clf_dense_masks *self;
    const clf_decoder_memory *memory; /* decoders: projected rows of the memory, in the same layout */
    int64_t memory_length;            /* S */
    const clf_dense_masks *source;
    const clf_transformer_params *params; /* checked; NULL: none */
    bool is_decoder;                      /* selects the outputs and seeds of `params` */
} clf_dense_batch;

/* x [N*L,C] f32 dense, rows in the layout's order, in place. Enqueued. */
clf_status clfi_dense_forward(clf_context *context, const clf_stack *stack, const clf_dense_batch *batch, const clf_view *x);

#endif
