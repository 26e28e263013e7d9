/* SPDX-License-Identifier: MIT */
/* Makes the items of a job from the texts, pairs and token ids of a request, and writes embeddings into the reply. */
#ifndef CLFI_SERVE_ROW_INPUTS_H
#define CLFI_SERVE_ROW_INPUTS_H

#include "serve/call.h"
#include "text/tokenizer.h"

enum { SRV_MOST_INPUTS = 8192 }; /* texts of one request */

/* How a route treats its inputs. */
typedef struct srv_row_ask {
    srv_row_kind kind;
    const char *field;      /* name of the request's field with the texts, for messages */
    bool truncates;         /* texts with more than the model's max_tokens are truncated; false: they are refused */
    bool cuts_left;         /* truncation drops their first tokens; false: their last */
    bool takes_ids;         /* a list of token ids may replace a text */
    size_t document_tokens; /* RERANK: longer documents are truncated to this many tokens; 0: no such limit */
} srv_row_ask;

/* Makes call->job, for `count` rows of ask->kind on the model; the job takes over the call's body. */
bool srv_rows_begin(srv_call *call, const srv_model *model, const srv_row_ask *ask, size_t count);

/* Fills item `index` with the tokens of a text, or of a pair. second.data NULL: a single text. pairs: NULL, or memory for pairs that have
 * the same first text, which is encoded once. It starts as CLF_ENCODING_INIT, and the caller frees it. */
bool srv_rows_add_text(srv_call *call, const srv_row_ask *ask, size_t index, clf_text first, clf_text second, clf_encoding *pairs);

/* Begins the job and adds all: a text, a list of texts, a list of token ids (one item), or a list of such lists. */
bool srv_rows_take(srv_call *call, const srv_model *model, const srv_row_ask *ask, const json_t *inputs);

/* The value for kind.prompt_name: `name` if the model has such a prompt. name NULL: the model's default prompt. NULL: none. */
const char *srv_rows_prompt(const srv_model *model, const char *name);

/* Writes the first call->wire.dimensions features of an item's embedding to `out`, normalised if call->wire.normalises. */
void srv_rows_embedding(const srv_call *call, size_t index, float *out);

/* Appends all embeddings as a list of lists of numbers. row: room for one of them. */
clf_status srv_rows_write_list(const srv_call *call, float *row, clf_str *out);

/* Fills the reply with what `write` appends to `out`. row: room for one embedding. */
bool srv_rows_reply(srv_call *call, clf_status (*write)(const srv_call *call, float *row, clf_str *out));

#endif
