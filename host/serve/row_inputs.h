/* SPDX-License-Identifier: MIT */
/* Texts, pairs and token ids of a request as the items of a job. */
#ifndef CLFI_SERVE_ROW_INPUTS_H
#define CLFI_SERVE_ROW_INPUTS_H

#include "serve/call.h"

enum { SRV_MOST_INPUTS = 8192 }; /* texts of one request */

typedef struct srv_row_ask {
    srv_row_kind kind;
    const char *field; /* that has the texts, for messages */
    bool truncates;    /* longer texts are cut; false: they are refused */
    bool cuts_left;    /* at their beginning */
    bool takes_ids;
    size_t document_tokens; /* of RERANK: longer documents are cut to so many tokens; 0: no limit of their own */
} srv_row_ask;

/* A job on the model for `count` rows of the kind; the call's body becomes the job's. */
bool srv_rows_begin(srv_call *call, const srv_model *model, const srv_row_ask *ask, size_t count);

/* Item `index` from a text, or from a pair: second.data NULL: none. */
bool srv_rows_add_text(srv_call *call, const srv_row_ask *ask, size_t index, clf_text first, clf_text second);

/* Begins the job and adds all: a text, a list of texts, a list of token ids (one item), or a list of such lists. */
bool srv_rows_take(srv_call *call, const srv_model *model, const srv_row_ask *ask, const json_t *inputs);

/* The prompt of that name, the model's default one for NULL, as kind.prompt_name has it. NULL: none. */
const char *srv_rows_prompt(const srv_model *model, const char *name);

/* The embedding of an item as the answer has it, in `out` [call->wire.dimensions]. */
void srv_rows_embedding(const srv_call *call, size_t index, float *out);

/* All of them as a list of lists of numbers. row: room for one, which is written over. */
clf_status srv_rows_write_list(const srv_call *call, float *row, clf_str *out);

/* The reply as `write` writes it, which is given room for an embedding. */
bool srv_rows_reply(srv_call *call, clf_status (*write)(const srv_call *call, float *row, clf_str *out));

#endif
