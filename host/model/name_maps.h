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

/* Learned positions: [max,C]; labml's [max,1,C]; BART's [max+2,C], whose first two rows belong to no position. */
typedef enum clf_positions_shape { CLF_POSITIONS_FLAT, CLF_POSITIONS_LABML, CLF_POSITIONS_BART } clf_positions_shape;

typedef struct clf_name_map {
    const char *name; /* "labml" */
    clf_stack_names encoder, decoder;
    const char *source_table, *target_table;         /* completed by "weight" */
    const char *shared_table;                        /* likewise, for a table that is missing; NULL: there is none */
    const char *source_norm, *target_norm;           /* of embeddings, completed by "weight" or "bias" */
    const char *source_positions, *target_positions; /* whole names of learned tables */
    clf_positions_shape positions_shape;
    const char *generator;
    const char *logits_bias; /* whole name of a [1,V] that is the generator's bias; NULL: generator's "bias" alone */
} clf_name_map;

/* NULL for a value outside the enumeration. */
const clf_name_map *clfi_name_map(clf_weight_names names);

/* Hugging Face's names without the leading "model.", as networks without an output layer (BartModel, MarianModel) are stored. */
const clf_name_map *clfi_name_map_huggingface_base(void);

#endif
