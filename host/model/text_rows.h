/* SPDX-License-Identifier: MIT */
/* Texts to rows of numbers: tokenized, sorted by length, packed into batches without padding, passed through a session's network, and put
 * back into the order of the texts. What embeddings and classifications share. */
#ifndef CLFI_MODEL_TEXT_ROWS_H
#define CLFI_MODEL_TEXT_ROWS_H

#include "clformer/classify.h"
#include "model/session.h"

/* What becomes of a batch. */
typedef struct clf_row_pass {
    const char *what; /* opens messages and names the host's phase: "embed" */
    size_t width;     /* numbers of a row */
    /* rows [sequences, width] f32, dense, from the batch. Enqueued; temporaries are released by the caller. */
    clf_status (*run)(clf_session *session, const void *user, const clf_token_batch *batch, const clf_view *rows);
    const void *user;
    bool may_be_zero; /* a row of zeros is a result like any other */
} clf_row_pass;

typedef struct clf_row_texts {
    const clf_text *texts; /* [count, parts] */
    size_t count;
    size_t parts; /* 1, or 2 for pairs, whose second text may be absent */
    const char *prompt; /* goes before every text; NULL or "": nothing */
    size_t max_tokens, batch_tokens; /* 0: as the model; suited to the device */
    void (*progress)(void *user, size_t done, size_t total);
    void *progress_user;
    size_t *failed; /* receives the text whose row is corrupt, or that the tokenizer does not take; NULL: not wanted */
} clf_row_texts;

/* No corrupt row leaves: one that is not finite, or all zero where its sequence has tokens, is found on the device; its batch is computed
 * again on the portable engines, once, which the context's log tells; a row that is corrupt then too is INTERNAL and named.
 *
 * out[i * width ..] of text i; stats may be NULL. Synchronous. INVALID_ARGUMENT: a text whose data is NULL, max_tokens as
 * clf_embed_params. */
clf_status clfi_rows_of_texts(clf_session *session, const clf_row_pass *pass, const clf_row_texts *texts, float *out,
                              clf_embed_stats *stats);

/* The same of sequences of ids in one forward pass; arguments and statuses as clf_session_embed_ids. */
clf_status clfi_rows_of_ids(clf_session *session, const clf_row_pass *pass, const int32_t *ids, const int32_t *type_ids,
                            const int32_t *offsets, size_t sequences, float *out);

#endif
