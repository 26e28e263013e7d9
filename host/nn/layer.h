/* SPDX-License-Identifier: MIT */
/* Transformer layers and stacks of them (Vaswani et al. 2017; pre-norm: Xiong et al. 2020), of any kind that a clf_stack_config describes.
 * Encoders and decoders share them. A pass (clf_layer_pass) computes the attention between queries and keys, so that packed sequences,
 * cached decoding and dense batches with masks run through the same layers. */
#ifndef CLFI_NN_LAYER_H
#define CLFI_NN_LAYER_H

#include "nn/feed_forward.h"
#include "op/rotary.h"

/* Shape of an attention. Queries have H heads, keys and values G, which divides H: query head h uses key head h / (H / G). */
typedef struct clf_attention_shape {
    int64_t heads, key_heads; /* H, G */
    int64_t head_size;        /* D; H D need not be the width */
    float scale;              /* of the scores; 0: 1/sqrt(D) */
    bool is_causal;           /* query i uses keys j <= i of its sequence; read by encoder passes and for buckets of distances */
    int32_t window;           /* above 0: only keys with |i - j| < window; 0: all */
    float soft_cap;           /* above 0: scores s become cap tanh(s / cap); only where keys are cached */
    clf_rotary rotary;        /* rotary encoding of queries and keys; base 0: none */
} clf_attention_shape;

/* A bias of the scores for each head and bucket of distances (Raffel et al. 2020, section 2.1), one table for all layers; without
 * causality, half of the buckets are for keys after the query. */
typedef struct clf_distance_buckets {
    int64_t count;        /* 0: none */
    int64_t max_distance; /* from here on all distances are one bucket */
} clf_distance_buckets;

/* LN: (x - mean) / sqrt(var + eps) gamma + beta; RMS: x / sqrt(mean x^2 + eps) gamma, or times 1 + gamma as Gemma stores it. */
typedef enum clf_norm_kind { CLF_NORM_LAYER, CLF_NORM_RMS, CLF_NORM_RMS_PLUS_ONE } clf_norm_kind;

/* Place of the norms of a block f: post x = N(x + f(x)); pre x += f(N(x)); both x += N'(f(N(x))). */
typedef enum clf_norm_place { CLF_NORM_POST, CLF_NORM_PRE, CLF_NORM_BOTH } clf_norm_place;

enum { CLFI_STACK_MOST_LAYERS = 4096 };

/* Everything about a stack but its weights. */
typedef struct clf_stack_config {
    int64_t layers;                /* L; 0: no stack */
    int64_t width, hidden_width;   /* C, F */
    clf_attention_shape attention; /* of layers that are not local; source attention uses only its heads, head size and scale */
    clf_attention_shape local;     /* of local layers */
    uint64_t local_layers[CLFI_STACK_MOST_LAYERS / 64]; /* which layers are local, a bit each: clfi_stack_set_local */
    bool divides_by_depth;                              /* scores of layer i are divided by i + 1 */
    clf_distance_buckets buckets;
    bool has_query_key_norm; /* queries and keys of each head are normalised before the rotary encoding */
    clf_activation activation;
    bool is_gated; /* h = f(W1 x + b1) * (Wg x + bg) in place of f(W1 x + b1) */
    clf_norm_kind norm;
    clf_norm_place place;
    float norm_eps;
    bool lacks_first_norm; /* layer 0 has no norm before its attention, because the embedding has one (ModernBERT) */
    bool has_final_norm;   /* a norm follows the last layer */
    bool has_source;       /* layers attend to a memory between self-attention and feed-forward network */
} clf_stack_config;

/* Gain and shift of a norm; borrowed views (buffer NULL = absent). */
typedef struct clf_norm {
    clf_view gamma, beta;
} clf_norm;

/* Weights of a layer; the linears belong to the stack. A norm before a block is left out if its gamma is absent, as in ModernBERT's first
 * layer. */
typedef struct clf_layer {
    clf_linear *qkv;           /* [(H + 2G) D, C]: query, key and value projections, concatenated */
    clf_linear *output;        /* [C, H D] */
    clf_linear *source_query;  /* [H D, C]; the source_ ones only in stacks with source attention */
    clf_linear *source_kv;     /* [2 G D, C]: keys and values of the memory */
    clf_linear *source_output; /* [C, H D] */
    clf_linear *ffn_in;        /* [F, C] */
    clf_linear *ffn_gate;      /* [F, C]; NULL: plain feed-forward network */
    clf_linear *ffn_out;       /* [C, F] */
    clf_norm attention_norm, source_norm, ffn_norm;
    clf_norm attention_post_norm, ffn_post_norm; /* of place "both" */
    clf_norm query_norm, key_norm;               /* [D] */
} clf_layer;

typedef struct clf_stack {
    clf_stack_config config;
    int64_t layer_count;         /* layers that run: config.layers, or fewer after clfi_stack_up_to */
    clf_norm final_norm;         /* gamma.buffer NULL: none */
    clf_view turns, local_turns; /* tables of clfi_rotary_table for either shape; buffer NULL: none */
    clf_view distance_bias;      /* [H, 2R + 1] as clf_attention_args has it; buffer NULL: none */
    clf_layer *layers;           /* owned, with their linears */
} clf_stack;

/* Allocates the configuration's empty layers; the caller fills them. INVALID_ARGUMENT ("E_SHAPE: ..."): more layers than
 * CLFI_STACK_MOST_LAYERS, or sizes that contradict each other. OUT_OF_MEMORY. */
clf_status clfi_stack_init(const clf_stack_config *config, clf_stack *stack);
void clfi_stack_clear(clf_stack *stack); /* frees the layers and their linears */

/* Marks a layer, 0 <= layer < CLFI_STACK_MOST_LAYERS, as local. */
void clfi_stack_set_local(clf_stack_config *config, int64_t layer);
int64_t clfi_stack_local_count(const clf_stack_config *config); /* local layers below config->layers */

/* Shape of a layer's attention. */
const clf_attention_shape *clfi_stack_attention(const clf_stack_config *config, int64_t layer);

/* The bias of a stack's scores; NULL: none. */
const clf_view *clfi_stack_bias(const clf_stack *stack);

/* UNSUPPORTED: the layer has a window or a bias. For passes that support neither; `pass` names them in the message ("a dense batch"). */
clf_status clfi_stack_check_plain(const clf_stack *stack, int64_t layer, const char *pass);

/* The bucket of keys `distance` positions after the query (negative: before it). */
int64_t clfi_distance_bucket(const clf_distance_buckets *buckets, bool is_causal, int64_t distance);

/* Scale of a layer's scores. */
float clfi_stack_scale(const clf_stack_config *config, int64_t layer);

/* Computes attention in one run over T rows. Both functions write the weighted sums of values to out [T,H,D], dense. */
typedef struct clf_layer_pass clf_layer_pass;
struct clf_layer_pass {
    /* q [H,T,D], k, v [G,T,D]: this layer's projections of the rows. */
    clf_status (*self)(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                       const clf_view *k, const clf_view *v, const clf_view *out);
    /* q [H,T,D]. The pass itself has the keys and values of the memory. NULL if the stack has no source attention. */
    clf_status (*source)(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                         const clf_view *out);
    const void *user;
    const clf_view *positions; /* i32 [T]: position of each row in its sequence; NULL if no layer has a rotary encoding */
};

/* Points of a layer at which an observer can read, and change, values while it runs. */
typedef enum clf_layer_point {
    CLF_POINT_SELF_RESULT, /* [T,C]: f(x) of a block, before it is added to x */
    CLF_POINT_SOURCE_RESULT,
    CLF_POINT_FFN_INPUT,  /* [T,C]: only to be read */
    CLF_POINT_FFN_HIDDEN, /* [T,F] */
    CLF_POINT_FFN_RESULT
} clf_layer_point;

/* Called at each point of each layer with rows that are f32 and dense. */
typedef struct clf_layer_visitor {
    clf_status (*visit)(clf_context *context, const void *user, int64_t layer, clf_layer_point point, const clf_view *rows);
    const void *user;
    bool has_results; /* whether results are visited; adding them to x is then a separate step */
} clf_layer_visitor;

/* Runs every layer in place on x [T,C] f32, dense, then final_norm. Pre-norm: x += SelfAttention(N1 x); x += SourceAttention(N2 x); x +=
 * FFN(N3 x). Post-norm: x = N1(x + SelfAttention(x)), and so on. Temporary memory in the context's arena, in floats: T C, T C more unless
 * post-norm, and the larger of T (2H + 2G) D and T F (gated: up to 2 T F). Linear layers add their own. Enqueued. */
clf_status clfi_stack_forward(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, const clf_view *x);

/* clfi_stack_forward with a visitor; NULL: none. */
clf_status clfi_stack_forward_visited(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass,
                                      const clf_layer_visitor *visitor, const clf_view *x);

/* *out: a stack of layers 0..layer that borrows the memory of `stack`. INVALID_ARGUMENT: no such layer; `name` ("encoder") is for the
 * message. */
clf_status clfi_stack_up_to(const clf_stack *stack, const char *name, int64_t layer, clf_stack *out);

#endif
