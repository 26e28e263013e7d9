/* SPDX-License-Identifier: MIT */
/* Adds single workloads of the suite "generation". Each is verified by float64 logits (reference_network.h) for the prompts and tokens
 * that it is timed with, or for their beginning if the model is large. Prefill and decode add nothing if the model has too few positions
 * for them. */
#ifndef CLFI_WORKLOAD_GENERATION_WORKLOADS_H
#define CLFI_WORKLOAD_GENERATION_WORKLOADS_H

#include "workload/generation_model.h"

/* "prefill/NAME/512": a prompt of `tokens` random ids, from the ids to the logits after the prompt on the host. */
clf_status clfi_generation_add_prefill(clfi_workload_list *list, const clfi_generation_model *model, size_t tokens);

/* "decode/NAME/16x128": greedy steps of `sequences` sequences, each after `context` tokens, from one token to the choice of the next. */
clf_status clfi_generation_add_decode(clfi_workload_list *list, const clfi_generation_model *model, size_t sequences, size_t context);

/* "first_token/NAME/warm": from a process without a context to the logits after a short prompt, with programs from the cache on disk. */
clf_status clfi_generation_add_first_token(clfi_workload_list *list, const clfi_generation_model *model);

#endif
