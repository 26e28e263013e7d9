/* SPDX-License-Identifier: MIT */
/* What checkpoints call the weights of an encoder-decoder; the names that transformer_build.c asks for. */
#ifndef CLFI_MODEL_NAME_MAPS_H
#define CLFI_MODEL_NAME_MAPS_H

#include "clformer/transformer.h"

/* Weights of an attention. Each is completed by "weight" or "bias". */
typedef struct clf_attention_names {
    const char *query, *key, *value; /* NULL: fused */
    const char *fused;               /* the three as one, [3C,C]; NULL: separate */
    const char *output;
} clf_attention_names;

/* Of a stack; %d is the layer's number. */
typedef struct clf_stack_names {
    clf_attention_names self, source;
    const char *ffn_in, *ffn_gate, *ffn_out;
    const char *self_norm, *source_norm, *ffn_norm;
    const char *final_norm;
} clf_stack_names;

typedef struct clf_name_map {
    const char *name; /* "labml" */
    clf_stack_names encoder, decoder;
    const char *source_table, *target_table;         /* completed by "weight" */
    const char *source_positions, *target_positions; /* whole names of learned tables */
    const char *generator;
} clf_name_map;

/* NULL for a value outside the enumeration. */
const clf_name_map *clfi_name_map(clf_weight_names names);

#endif
