/* SPDX-License-Identifier: MIT */
/* Runs a session's network once over packed sequences, each of which becomes a row of numbers: an embedding, or the logits of a head. The
 * device marks a row as corrupt if it is not finite, or all zero although its sequence has tokens. A batch with a corrupt row is computed
 * once more, on the portable engines, and the context's log says so. */
#ifndef CLFI_MODEL_ROW_PASS_H
#define CLFI_MODEL_ROW_PASS_H

#include "model/session.h"

/* How a pass computes the rows of a batch. */
typedef struct clf_row_pass {
    const char *what; /* messages begin with it; it also names the host's phase: "embed" */
    size_t width;     /* numbers of a row */
    /* rows [sequences, width] f32, dense, from the batch. Enqueued; temporaries are released by the caller. */
    clf_status (*run)(clf_session *session, const void *user, const clf_token_batch *batch, const clf_view *rows);
    const void *user;
    bool may_be_zero; /* a row of zeros is a result like any other */
} clf_row_pass;

/* out [count, width]; is_corrupt [count]: rows that are corrupt on every engine. Synchronous. INVALID_ARGUMENT names the sequence. */
clf_status clfi_row_pass_run(clf_session *session, const clf_row_pass *pass, const clf_sequences *sequences, float *out, bool *is_corrupt);

/* Makes all kernels of passes of up to `tokens` tokens ready for use. Errors as clfi_row_pass_run. */
clf_status clfi_row_pass_warm(clf_session *session, const clf_row_pass *pass, size_t tokens);

/* Always INTERNAL; the message says what is wrong with a corrupt row. */
clf_status clfi_row_fail(const clf_row_pass *pass, const float *row);

#endif
