/* SPDX-License-Identifier: MIT */
/* Runs token-by-token decoding: passes over a decode batch, and between them a chooser of tokens (a sampler or a beam search). */
#ifndef CLFI_MODEL_DECODE_LOOP_H
#define CLFI_MODEL_DECODE_LOOP_H

#include "model/decode_batch.h"

/* Chooses the next tokens. The chooser opens, forks and drops sequences. */
typedef struct clf_decode_chooser {
    /* Returns the inputs of the next pass, which may include new sequences. They stay valid until `take` returns. count 0: nothing is left
     * to do. */
    clf_status (*give)(void *user, const clf_decode_input **out_inputs, size_t *out_count);
    /* Takes the pass's logits [count,V], a temporary on the device. */
    clf_status (*take)(void *user, const clf_decode_input *inputs, size_t count, const clf_view *logits);
} clf_decode_chooser;

/* Runs one pass. *out_done: the chooser gave no input. */
clf_status clfi_decode_step(clf_decode_batch *batch, const clf_decode_chooser *chooser, void *user, bool *out_done);

/* Runs passes until the chooser gives no input. After a failure sequences stay as they are: the chooser drops them. */
clf_status clfi_decode_loop(clf_decode_batch *batch, const clf_decode_chooser *chooser, void *user);

#endif
