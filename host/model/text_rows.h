/* SPDX-License-Identifier: MIT */
/* A list of texts, pairs or token ids to rows of numbers, in the order of the list. What embeddings and classifications share. */
#ifndef CLFI_MODEL_TEXT_ROWS_H
#define CLFI_MODEL_TEXT_ROWS_H

#include "clformer/classify.h"
#include "model/row_packer.h"

typedef struct clf_row_texts {
    const clf_text *texts; /* [count, parts] */
    const clf_tokens *tokens; /* [count]: in place of texts; NULL: texts */
    size_t count;
    size_t parts; /* 1, or 2 for pairs, whose second text may be absent */
    const char *prompt; /* goes before every text; NULL or "": nothing */
    size_t max_tokens, batch_tokens; /* 0: as the model; suited to the device */
    clf_progress progress;
    void *progress_user;
    size_t *failed; /* receives the text whose row is corrupt, or that the tokenizer does not take; NULL: not wanted */
} clf_row_texts;

/* out[i * width ..] of text i; stats may be NULL. Synchronous. INTERNAL: a row that is corrupt on every engine (named). CANCELLED: by
 * progress. INVALID_ARGUMENT: a text whose data is NULL, max_tokens and tokens as clf_embed_params. */
clf_status clfi_rows_of_texts(clf_session *session, const clf_row_pass *pass, const clf_row_texts *texts, float *out,
                              clf_embed_stats *stats);

#endif
