/* SPDX-License-Identifier: MIT */
/* Turns texts, pairs of texts and token ids into rows of numbers, for embedding, reranking and classification. Items are tokenized when
 * they are added, and packed by similar length into passes of a size that suits the device. Items may be added at any time, also from the
 * sink. One thread drives a packer.
 *
 * Rounds: when a round is finished, the next step begins a new one with all waiting items (or the first round_tokens tokens of them),
 * longest first. Items that arrive during a round wait for the next one. So no item waits for ever, and the batches of a fixed list of
 * texts depend on the list alone. */
#ifndef CLFI_MODEL_ROW_PACKER_H
#define CLFI_MODEL_ROW_PACKER_H

#include "clformer/classify.h"
#include "model/row_pass.h"

typedef struct clf_row_packer clf_row_packer;

/* The source of one row. */
typedef struct clf_row_item {
    size_t tag;            /* the caller's name for it */
    const clf_text *texts; /* [parts], without `tokens` */
    size_t parts;          /* 1, or 2 for a pair, whose second text may be absent (data NULL) */
    const clf_tokens *tokens; /* NULL: texts */
} clf_row_item;

/* Receives the row [width] of an item. status INTERNAL: the row is corrupt, clf_last_error says how, and row is NULL. A failure ends the
 * step. */
typedef clf_status (*clf_row_sink)(void *user, size_t tag, const float *row, clf_status status);

/* Called by a step when nothing waits and a round is over; may add items. A failure ends the step. */
typedef clf_status (*clf_row_supply)(void *user, clf_row_packer *packer);

typedef struct clf_row_packer_params {
    const clf_row_pass *pass;        /* borrowed */
    const char *prompt;              /* goes before every text; NULL or "": nothing; borrowed */
    size_t max_tokens, batch_tokens; /* 0: as the model; suited to the device */
    size_t round_tokens;             /* 0: a round takes all that waits */
    clf_row_sink sink;
    clf_row_supply supply; /* NULL: none; items come only by clfi_row_packer_add */
    void *user;
    void *owned; /* freed with the packer, or where it cannot be created; NULL: nothing */
} clf_row_packer_params;

/* The session is borrowed. INVALID_ARGUMENT: max_tokens above the model's positions. */
clf_status clfi_row_packer_create(clf_session *session, const clf_row_packer_params *params, clf_row_packer **out);

/* Create packers of embeddings, of a head's logits, and of pairs' logits, as clf_session_embed, clf_session_classify and
 * clf_session_score_pairs compute them. They read sink, supply, user and round_tokens of feed, and ignore progress, failed_text
 * and tokens of params. Statuses as those calls. */
clf_status clfi_embed_packer(clf_session *session, const clf_embed_params *params, const clf_row_packer_params *feed, clf_row_packer **out);
clf_status clfi_classify_packer(clf_session *session, const clf_classify_params *params, bool scores_pairs,
                                const clf_row_packer_params *feed, clf_row_packer **out);

void clfi_row_packer_destroy(clf_row_packer *packer); /* waiting items get no row. NULL is a no-op */

/* The item waits for its row; it is not needed afterwards. May be called from the sink. Texts longer than max_tokens are truncated.
 * INVALID_ARGUMENT: a text whose data is NULL; ids outside the vocabulary or its types, or more than max_tokens of them. UNSUPPORTED: a
 * text that the tokenizer does not take. */
clf_status clfi_row_packer_add(clf_row_packer *packer, const clf_row_item *item);

/* Drops items of this tag that have no row yet. */
void clfi_row_packer_drop(clf_row_packer *packer, size_t tag);

/* Items that have no row yet. */
size_t clfi_row_packer_load(const clf_row_packer *packer);

/* Makes all kernels of later passes ready for use. Errors as clfi_row_packer_step. */
clf_status clfi_row_packer_warm(clf_row_packer *packer);

/* Runs one pass; its rows go to the sink. No-op if nothing waits. UNSUPPORTED: the model has no encoder. */
clf_status clfi_row_packer_step(clf_row_packer *packer);

/* Texts, tokens, truncated texts and passes so far; no times. */
clf_embed_stats clfi_row_packer_stats(const clf_row_packer *packer);

#endif
