/* SPDX-License-Identifier: MIT */
/* A trained encoder-decoder with its vocabularies: config.json and model.safetensors of a directory, or the model built into the
 * library. */
#ifndef CLFI_MODEL_SEQ2SEQ_H
#define CLFI_MODEL_SEQ2SEQ_H

#include <stdatomic.h>

#include "io/checkpoint.h"
#include "nn/network.h"

/* Constant once it is open, except the count of references, and the weights after a loss of the device. */
typedef struct clf_seq2seq {
    atomic_size_t references;
    char *directory; /* NULL: the built-in model */
    clf_network *network;
    uint32_t opening;                      /* context->openings when its weights were loaded */
    int32_t bos, eos;                      /* of targets; eos ends sources too */
    char **source_tokens, **target_tokens; /* index = id */
    int32_t source_count, target_count;
} clf_seq2seq;

/* directory NULL: the built-in grapheme-to-phoneme model. Statuses as clf_model_open. */
clf_status clfi_seq2seq_open(clf_context *context, const char *directory, clf_seq2seq **out);
clf_seq2seq *clfi_seq2seq_retain(clf_seq2seq *model);

/* Loads the weights again if the context was opened again since they were loaded (clfi_context_recover). Statuses as clf_model_open.
 * IO also: a file of the model was changed since it was opened. */
clf_status clfi_seq2seq_refresh(clf_context *context, clf_seq2seq *model);

void clfi_seq2seq_close(clf_seq2seq *model); /* gives back one reference; NULL is a no-op */

/* The built-in model's files as a checkpoint, which the caller closes. */
clf_status clfi_g2p_checkpoint(clf_checkpoint **out);

#endif
