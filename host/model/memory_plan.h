/* SPDX-License-Identifier: MIT */
/* Plans the device memory that a model takes, before anything is loaded. */
#ifndef CLFI_MODEL_MEMORY_PLAN_H
#define CLFI_MODEL_MEMORY_PLAN_H

#include "clformer/model.h"
#include "io/checkpoint.h"
#include "nn/network.h"

/* How a cache stores keys and values: the name in options, and the element type (kernel/kv_cache.h). */
typedef struct clf_cache_storage {
    const char *name;
    clf_dtype dtype;
} clf_cache_storage;

/* NULL: caches have no such storage. */
const clf_cache_storage *clfi_cache_storage(clf_storage storage);

/* Computes the plan. Weights whose pages the device uses in place in the mapped file count like the others. Every weight of two axes counts
 * as a matrix. */
clf_memory_plan clfi_memory_plan(const clf_context *context, const clf_checkpoint *checkpoint, const clf_network_config *config,
                                 const clf_model_params *params);

/* The same plan for another number of texts that run together. */
clf_memory_plan clfi_memory_plan_for(const clf_context *context, const clf_memory_plan *plan, uint64_t sequences);

/* OUT_OF_MEMORY, with the numbers and with what would fit: the device has no room for the weights, or for a decoder's scratch and shortest
 * cache beside them. An encoder's scratch does not count, because callers may ask for smaller batches. */
clf_status clfi_memory_plan_check(const clf_context *context, const clf_memory_plan *plan);

/* OUT_OF_MEMORY: the device has no room for the keys and values of `tokens` tokens, of all texts together, beside weights and scratch. The
 * message names how many have room, and what would make room for more. */
clf_status clfi_memory_plan_check_tokens(const clf_context *context, const clf_memory_plan *plan, uint64_t tokens);

#endif
