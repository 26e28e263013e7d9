/* SPDX-License-Identifier: MIT */
/* The suite "generation", workload by workload. Each is verified by logits in double (reference_decoder.h) of the prompts and tokens that
 * it is timed with, or of their beginning where the model is large. Nothing is added where a model has fewer positions than it takes. */
#ifndef CLFI_WORKLOAD_GENERATION_WORKLOADS_H
#define CLFI_WORKLOAD_GENERATION_WORKLOADS_H

#include "workload/generation_model.h"

/* "prefill/NAME/512": a prompt of random ids, from the ids to the logits behind it on the host. */
clf_status clfi_generation_add_prefill(clfi_workload_list *list, const clfi_generation_model *model, size_t tokens);

/* "decode/NAME/16x128": greedy steps of `sequences` sequences, each behind `context` tokens, from one token to the choice of the next. */
clf_status clfi_generation_add_decode(clfi_workload_list *list, const clfi_generation_model *model, size_t sequences, size_t context);

/* "first_token/NAME/warm": from a process without a context to the logits behind a short prompt, with programs from the cache on disk. */
clf_status clfi_generation_add_first_token(clfi_workload_list *list, const clfi_generation_model *model);

#endif
