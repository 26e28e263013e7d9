/* SPDX-License-Identifier: MIT */
/* Finds the kernels that decoding needs, before the first of them is compiled. */
#ifndef CLFI_MODEL_DECODE_REHEARSAL_H
#define CLFI_MODEL_DECODE_REHEARSAL_H

#include "model/decode_batch.h"

/* The passes to come. The inputs' own sequences stay as they are. */
typedef struct clf_decode_plan {
    const clf_decode_input *sources; /* of each input; NULL: the decoder attends to none */
    const clf_decode_input *inputs;  /* of the first pass */
    size_t count;
    bool is_all;       /* logits after every token */
    int32_t following; /* how many sequences each input becomes for a second pass of one token each; 0: there is no second pass */
    clf_status (*score)(void *user, const clf_view *logits); /* enqueues what is done with a pass's logits on the device; NULL: the host
                                                                reads them */
    void *user;
} clf_decode_plan;

/* Runs the plan once as a rehearsal (runtime/rehearsal.h), in sequences of its own. No-op if *is_done; a success sets it. */
clf_status clfi_decode_rehearse(clf_decode_batch *batch, const clf_decode_plan *plan, bool *is_done);

/* Sizes of the passes to come. */
typedef struct clf_decode_sizes {
    size_t sequences, tokens; /* most of one pass */
    size_t rows;              /* most cache rows; 0: no limit */
} clf_decode_sizes;

/* Makes all kernels of passes of up to these sizes, and of choices from their logits, ready for use, and the launch graphs of steps. Later
 * passes build none. No sequence changes. Errors as clfi_decode_run. */
clf_status clfi_decode_warm(clf_decode_batch *batch, const clf_decode_sizes *sizes);

#endif
