/* SPDX-License-Identifier: MIT */
/* Greedy decoding of several sequences, as it is measured: prompts in passes as clf_session_generate gives them, then one token a step
 * for each, logits read and the next token chosen on the host. */
#ifndef CLFI_WORKLOAD_GREEDY_H
#define CLFI_WORKLOAD_GREEDY_H

#include "model/decode_batch.h"

typedef struct clfi_greedy {
    clf_decode_batch *decoding; /* borrowed */
    size_t vocabulary, count;
    clf_decode_input *inputs; /* [count]: those of the next step */
    int32_t *next;            /* [count]: the token that each sequence is given next */
    float *logits;            /* [count, V]: behind each sequence's last token */
} clfi_greedy;

/* `count` open sequences without tokens, and memory for `longest` tokens in each and for `prompt` new ones at once. OUT_OF_MEMORY. */
clf_status clfi_greedy_create(clf_decode_batch *decoding, size_t vocabulary, size_t count, size_t prompt, size_t longest, clfi_greedy *out);
void clfi_greedy_free(clfi_greedy *greedy); /* drops the sequences; zeros are accepted */

/* Gives the sequences their sources: ids [count, tokens]; tokens 0: no-op. */
clf_status clfi_greedy_sources(clfi_greedy *greedy, const int32_t *ids, size_t tokens);

/* Gives one sequence its prompt. Synchronous. */
clf_status clfi_greedy_prompt(clfi_greedy *greedy, size_t index, const int32_t *ids, size_t count);

/* Gives each sequence its next token. Synchronous. */
clf_status clfi_greedy_step(clfi_greedy *greedy);

/* Forgets all tokens but the first `length` of each sequence. The next tokens are the caller's to set. */
clf_status clfi_greedy_keep(clfi_greedy *greedy, size_t length);

#endif
