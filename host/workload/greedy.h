/* SPDX-License-Identifier: MIT */
/* Greedy decoding of several sequences, as workloads measure it. Prompts run in passes, as in clf_session_generate. Then each step adds
 * one token to every sequence: the host reads the logits and chooses the next token. */
#ifndef CLFI_WORKLOAD_GREEDY_H
#define CLFI_WORKLOAD_GREEDY_H

#include "model/decode_batch.h"

typedef struct clfi_greedy {
    clf_decode_batch *decoding; /* borrowed */
    size_t vocabulary, count;
    clf_decode_input *inputs; /* [count]: inputs of the next step */
    int32_t *next;            /* [count]: the next input token of each sequence */
    float *logits;            /* [count, V]: after the last token of each sequence */
} clfi_greedy;

/* Opens `count` sequences without tokens. Reserves memory for `longest` tokens of each, and for prompts of `prompt` new tokens. Forwards
 * failures of clfi_decode_reserve and clfi_decode_open. */
clf_status clfi_greedy_create(clf_decode_batch *decoding, size_t vocabulary, size_t count, size_t prompt, size_t longest, clfi_greedy *out);
void clfi_greedy_free(clfi_greedy *greedy); /* closes the sequences; zeros are accepted */

/* Sets the sources of all sequences: ids [count, tokens]. tokens 0: a decoder alone, nothing happens. */
clf_status clfi_greedy_sources(clfi_greedy *greedy, const int32_t *ids, size_t tokens);

/* Decodes the prompt of one sequence and chooses its next token. Synchronous. */
clf_status clfi_greedy_prompt(clfi_greedy *greedy, size_t index, const int32_t *ids, size_t count);

/* Decodes next[] and chooses the tokens that follow. Synchronous. */
clf_status clfi_greedy_step(clfi_greedy *greedy);

/* Forgets all tokens but the first `length` of each sequence. The caller sets next[]. */
clf_status clfi_greedy_keep(clfi_greedy *greedy, size_t length);

#endif
