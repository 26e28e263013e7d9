/* SPDX-License-Identifier: MIT */
/* Turns a list of texts, pairs or token ids into rows of numbers, in the order of the list; embeddings and classifications share it. */
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
    size_t *failed; /* receives the index of a text that is corrupt, that the tokenizer does not take, or whose token ids are wrong; else
                       `count`; NULL: not wanted */
} clf_row_texts;

/* Writes the row of text i to out[i * width ..]; stats may be NULL. Synchronous. INTERNAL: a row that is corrupt on every engine (named).
 * CANCELLED: by progress. INVALID_ARGUMENT: a text whose data is NULL, max_tokens and tokens as clf_embed_params. UNSUPPORTED: a text that
 * the tokenizer does not take (named), a model without encoder. */
clf_status clfi_rows_of_texts(clf_session *session, const clf_row_pass *pass, const clf_row_texts *texts, float *out,
                              clf_embed_stats *stats);

#endif
