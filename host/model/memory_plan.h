/* SPDX-License-Identifier: MIT */
/* What a model takes of a device's memory, known before anything is loaded. */
#ifndef CLFI_MODEL_MEMORY_PLAN_H
#define CLFI_MODEL_MEMORY_PLAN_H

#include "clformer/model.h"
#include "io/checkpoint.h"
#include "nn/network.h"

typedef struct clf_memory_plan {
    uint64_t stored_bytes;  /* the checkpoint's tensors */
    uint64_t weight_bytes;  /* as they lie on the device */
    uint64_t half_bytes;    /* if matrices were rounded to f16: what --weights f16 would make of weight_bytes */
    uint64_t small_bytes;   /* if they were q4_0: what a conversion to it would */
    uint64_t scratch_bytes; /* activations of a pass, a decoder's over part of a prompt or an encoder's over the largest batch: the most */
    uint64_t cache_bytes;   /* keys and values of one token, of a source too */
    uint64_t device_bytes;  /* 0: the device does not tell */
    int64_t positions;      /* of a decoder without sources; 0: there is none */
    uint64_t room;          /* tokens of all texts together whose keys and values fit beside weights and scratch */
    uint64_t half_room;     /* the same if keys and values were f16 */
    int64_t context;        /* of a single text: room, at most `positions` */
} clf_memory_plan;

/* The weights whose pages the device uses where the file is mapped count like the others. Every tensor of two axes counts as a matrix. */
clf_memory_plan clfi_memory_plan(const clf_context *context, const clf_checkpoint *checkpoint, const clf_network_config *config,
                                 const clf_model_params *params);

/* OUT_OF_MEMORY with the numbers, and with what would fit: the weights do not fit the device, or of a decoder not scratch and the shortest
 * cache beside them. An encoder's scratch does not count: callers may ask for smaller batches. */
clf_status clfi_memory_plan_check(const clf_context *context, const clf_memory_plan *plan);

/* OUT_OF_MEMORY: so many tokens, of all texts together, do not fit beside weights and scratch; the message names how many do, and what
 * would make more fit. */
clf_status clfi_memory_plan_check_tokens(const clf_context *context, const clf_memory_plan *plan, uint64_t tokens);

#endif
