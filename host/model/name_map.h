/* SPDX-License-Identifier: MIT */
/* Names of a network's weights in checkpoints: tables of patterns, one row for each weight. */
#ifndef CLFI_MODEL_NAME_MAP_H
#define CLFI_MODEL_NAME_MAP_H

#include <stddef.h>

/* Role of a weight in the network. */
typedef enum clf_weight_role {
    CLF_WEIGHT_END, /* closes a table */
    /* of a layer */
    CLF_WEIGHT_QUERY,
    CLF_WEIGHT_KEY,
    CLF_WEIGHT_VALUE,
    CLF_WEIGHT_OUTPUT,
    CLF_WEIGHT_SOURCE_QUERY,
    CLF_WEIGHT_SOURCE_KEY,
    CLF_WEIGHT_SOURCE_VALUE,
    CLF_WEIGHT_SOURCE_OUTPUT,
    CLF_WEIGHT_FFN_IN,   /* W1: its product goes through the activation */
    CLF_WEIGHT_FFN_GATE, /* Wg: its product does not */
    CLF_WEIGHT_FFN_OUT,
    CLF_WEIGHT_FUSED, /* several of the above, one under the other: `parts` */
    CLF_WEIGHT_ATTENTION_NORM,
    CLF_WEIGHT_ATTENTION_POST_NORM,
    CLF_WEIGHT_SOURCE_NORM,
    CLF_WEIGHT_FFN_NORM,
    CLF_WEIGHT_FFN_POST_NORM,
    CLF_WEIGHT_QUERY_NORM, /* [head size] */
    CLF_WEIGHT_KEY_NORM,
    /* of a stack and its embedding */
    CLF_WEIGHT_FINAL_NORM,
    CLF_WEIGHT_DISTANCE_BIAS, /* [buckets, heads] */
    CLF_WEIGHT_TOKENS,
    CLF_WEIGHT_POSITIONS,
    CLF_WEIGHT_TYPES,
    CLF_WEIGHT_EMBEDDING_NORM,
    /* of the head */
    CLF_WEIGHT_GENERATOR,
    CLF_WEIGHT_GENERATOR_BIAS, /* a bias whose name does not follow from the generator's */
    CLF_WEIGHT_SHARED,         /* the token embedding table that a tied generator copies; without a row it is the decoder's */
    CLF_WEIGHT_CLASSIFIER_DENSE,
    CLF_WEIGHT_CLASSIFIER_NORM,
    CLF_WEIGHT_CLASSIFIER
} clf_weight_role;

/* The layout of a tensor in the file if it differs from the network's. */
typedef enum clf_stored {
    CLF_STORED_PLAIN,
    CLF_STORED_TRANSPOSED, /* a matrix [in, out] in place of [out, in] */
    CLF_STORED_ROW,        /* a vector as [1, n] */
    CLF_STORED_MIDDLE_ONE, /* a table as [n, 1, C] */
    CLF_STORED_GAMMA       /* a norm whose weight and bias are called gamma and beta, as TensorFlow's were */
} clf_stored;

enum { CLFI_MOST_FUSED = 4 };

/* Rows of one role are alternatives: the first whose weight is in the file counts. */
typedef struct clf_weight_name {
    clf_weight_role role;
    /* The module's name, to which ".weight" or ".bias" is added; %d is the layer. A '*' at the end is replaced by "weight" or "bias"
     * ("in_proj_*"). A '!' at the end marks a whole name, to which nothing is added. With a leading '/' the name gets no prefix. */
    const char *pattern;
    clf_weight_role parts[CLFI_MOST_FUSED]; /* of CLF_WEIGHT_FUSED: what it holds, in its order */
    clf_stored stored;
} clf_weight_name;

#define CLFI_WEIGHT(weight, name)                    \
    {                                                \
        .role = CLF_WEIGHT_##weight, .pattern = name \
    }
#define CLFI_WEIGHT_STORED(weight, name, form)                                    \
    {                                                                             \
        .role = CLF_WEIGHT_##weight, .pattern = name, .stored = CLF_STORED_##form \
    }
#define CLFI_WEIGHT_FUSED(name, ...)                                        \
    {                                                                       \
        .role = CLF_WEIGHT_FUSED, .pattern = name, .parts = { __VA_ARGS__ } \
    } /* CLF_WEIGHT_QUERY, ... */
#define CLFI_WEIGHT_FUSED_QKV(name) CLFI_WEIGHT_FUSED(name, CLF_WEIGHT_QUERY, CLF_WEIGHT_KEY, CLF_WEIGHT_VALUE)
#define CLFI_WEIGHTS_END       \
    {                          \
        .role = CLF_WEIGHT_END \
    }

/* The names of a network's weights. Each table ends with CLFI_WEIGHTS_END; NULL: there is no such part. */
typedef struct clf_name_map {
    /* Prefixes of all names, ended by NULL. The first one counts with which the encoder's (else the decoder's) first row is in the file.
     * NULL: no prefix. */
    const char *const *prefixes;
    const clf_weight_name *encoder, *decoder; /* with the embedding of each */
    const clf_weight_name *head;
    /* The end of the names of weights that transformers widens from float16 to float32; an adapter's changes to them are not rounded to
     * float16. NULL: there are none. */
    const char *wide_names;
} clf_name_map;

#endif
