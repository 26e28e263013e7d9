/* SPDX-License-Identifier: MIT */
/* Transformers for sequences to sequences: encoder, decoder and generator from a configuration and weights by name (Vaswani et al.
 * 2017). */
#ifndef CLFORMER_TRANSFORMER_H
#define CLFORMER_TRANSFORMER_H

#include "clformer/attention.h"
#include "clformer/linear.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Position encoding: a vector that is added to the embedding of a token at position p:
 *   sinusoidal         PE[p,2i] = sin(p exp(-2i ln(10000)/C)), PE[p,2i+1] = cos(the same), computed in double on the host
 *   learned            row p of a table among the weights
 *   none               nothing
 *   sinusoidal halves  the same columns in Marian's order, sines first: PE[p,i] = sin(p exp(-2i ln(10000)/C)),
 *                      PE[p,ceil(C/2)+i] = cos(the same) */
typedef enum clf_positions {
    CLF_POSITIONS_SINUSOIDAL,
    CLF_POSITIONS_LEARNED,
    CLF_POSITIONS_NONE,
    CLF_POSITIONS_SINUSOIDAL_HALVES,
    CLF_POSITIONS_COUNT
} clf_positions;

typedef struct clf_transformer_config {
    size_t size;               /* sizeof(clf_transformer_config) */
    int64_t width;             /* C */
    int64_t hidden_width;      /* F */
    int64_t heads;             /* H; divides C */
    int64_t encoder_layers;    /* 0: no encoder */
    int64_t decoder_layers;    /* 0: no decoder */
    int64_t source_vocabulary; /* 0: sources come as vectors, without embedding */
    int64_t target_vocabulary; /* likewise for targets; also the generator's number of classes */
    int64_t max_source;        /* positions: longer sequences of tokens are refused; vectors, and tokens without positions, may be longer */
    int64_t max_target;        /* likewise */
    clf_activation activation; /* of the feed-forward networks */
    int is_gated;              /* nonzero: (f(W1 x + b1) * (Wg x + bg)) W2 + b2 */
    int norm_first;            /* nonzero: pre-norm, x += f(LN(x)); 0: post-norm, x = LN(x + f(x)) */
    int has_final_norm;        /* nonzero: a layer norm after the last layer of each stack */
    int has_generator;         /* nonzero: a linear map from features to target_vocabulary logits */
    clf_positions positions;
    float norm_eps;
    float embedding_scale;  /* of table rows, before positions are added; 0: sqrt(C) */
    int has_embedding_norm; /* nonzero: a layer norm of embedded tokens, after positions are added; vectors are taken as they are */
    int is_generator_tied;  /* nonzero: the generator's matrix is the targets' embedding table, and none of its own is looked for */
} clf_transformer_config;

/* The paper's sizes with the norms first and a final norm, as the annotated implementations have it; sizes of vocabularies are the
 * caller's. */
#define CLF_TRANSFORMER_CONFIG_INIT                                                                                                       \
    {                                                                                                                                     \
        .size = sizeof(clf_transformer_config), .width = 512, .hidden_width = 2048, .heads = 8, .encoder_layers = 6, .decoder_layers = 6, \
        .max_source = 5000, .max_target = 5000, .activation = CLF_ACTIVATION_RELU, .norm_first = 1, .has_final_norm = 1,                  \
        .has_generator = 1, .positions = CLF_POSITIONS_SINUSOIDAL, .norm_eps = 1e-5f                                                      \
    }
CLF_API CLF_NODISCARD clf_status clf_transformer_config_default(clf_transformer_config *out, size_t size); /* clformer.h: options */

/* Names of the weights:
 *   labml   encoder.layers.0.self_attn.query.linear.weight, norm_self_attn, feed_forward.layer1, src_embed.linear, generator.projection ...
 *   torch   encoder.layers.0.self_attn.in_proj_weight, linear1, norm1 ... (torch.nn.Transformer; embeddings and generator as
 *   src_embed.weight, tgt_embed.weight, generator.weight where the configuration has them)
 *   huggingface  model.encoder.layers.0.self_attn.q_proj.weight, fc1, final_layer_norm ... (the BART and Marian family; learned positions
 *   are [max + 2, C], position p in row p + 2, as BART has them; a missing embed_tokens.weight is model.shared.weight; the generator's
 *           bias is final_logits_bias [1,V] or lm_head.bias [V])
 * The norms of embeddings are src_embed.norm and tgt_embed.norm, src_embed_norm and tgt_embed_norm, model.encoder.layernorm_embedding and
 * model.decoder.layernorm_embedding. A bias that is absent counts as 0; every other weight must be there. */
typedef enum clf_weight_names { CLF_NAMES_LABML, CLF_NAMES_TORCH, CLF_NAMES_HUGGINGFACE, CLF_NAMES_COUNT } clf_weight_names;

typedef struct clf_named_tensor {
    const char *name;
    const clf_tensor *tensor; /* f32, f16 or bf16, any strides */
} clf_named_tensor;

typedef struct clf_transformer clf_transformer;

/* Builds the network from tensors by name, which are copied: they may be changed and destroyed afterwards. Names that are not needed are
 * ignored. *out: the caller destroys it; it keeps its context alive. NOT_FOUND: a weight is missing. INVALID_ARGUMENT: "E_SHAPE: ..." for a
 * size that makes no sense or a weight of another shape. "E_VALUE: ..." for an unknown activation or kind of positions, a scale or norm_eps
 * that is negative or not finite, two biases of one generator, a name that occurs twice. "E_VALUE: ..." also for settings that contradict
 * each other: a norm of embeddings without any, a tied generator without a generator or without an embedding of targets. Without a prefix:
 * a name or a tensor that is NULL. */
CLF_API CLF_NODISCARD clf_status clf_transformer_create(clf_context *context, const clf_transformer_config *config, clf_weight_names names,
                                                        const clf_named_tensor *weights, size_t count, clf_transformer **out);

/* The same with weights drawn from a seed: matrices (embeddings too) uniform in +-sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010),
 * biases 0, norms 1 and 0. Each number depends on the seed, the weight's labml name and its place alone, so every device gets the same. */
CLF_API CLF_NODISCARD clf_status clf_transformer_create_random(clf_context *context, const clf_transformer_config *config, uint64_t seed,
                                                               clf_transformer **out);

CLF_API void clf_transformer_destroy(clf_transformer *transformer); /* NULL is a no-op */

/* Borrowed; lives as long as the transformer. */
CLF_API const clf_transformer_config *clf_transformer_get_config(const clf_transformer *transformer);

/* Loads the directory `path` with config.json and model.safetensors (or its shards), by model_type:
 *   encoder-decoder  keys as in host/model/g2p/config.json, also "gated" and "final_norm"; weights in labml's names
 *   bart, marian     as transformers saves BartForConditionalGeneration, BartModel, MarianMTModel and MarianModel; encoder and decoder have
 *                    one number of heads and one hidden width. Tokenizers are not read: sequences are ids
 * Statuses as clf_model_open. */
CLF_API CLF_NODISCARD clf_status clf_transformer_open(clf_context *context, const char *path, clf_transformer **out);

/* A transformer for a second thread: the same weights on `context`, which shares the cl_context of the first's (clf_context_create_shared)
 * and is kept alive. `with` may be in use meanwhile, and may be destroyed first; the last one's thread then also uses the context that the
 * weights came with. *out: the caller destroys it. INVALID_ARGUMENT: a NULL, a context that shares nothing with the first's. */
CLF_API CLF_NODISCARD clf_status clf_transformer_create_shared(clf_transformer *with, clf_context *context, clf_transformer **out);

/* The numbers of clf_transformer_create_random for one weight (f32, C order), for those who want to store or check them. */
CLF_API void clf_xavier_uniform(uint64_t seed, const char *name, int rank, const int64_t *dim, float *out);

/* The parts of the network, each with its result as an output of its own. Sequences are [N,L] tokens (i32) or [N,L,C] vectors (f32, f16 or
 * bf16; already embedded), in layout LND [L,N] and [L,N,C]; any strides. Outputs are f32, f16 or bf16, any strides, and overlap no input.
 * masks NULL: none. All are enqueued (tokens are read and checked first). f32 arithmetic; the error of features stays near 1e-6 for layers
 * of ordinary weights. INVALID_ARGUMENT: "E_SHAPE: ...", "E_DTYPE: ..." for operands that do not fit, "E_VALUE: ..." for a token outside
 * the vocabulary, a sequence longer than the positions, or a part that the configuration leaves out. */

/* out [N,L,C] = table[token] * scale + position, their layer norm where the configuration has it; is_target 0: the source's embedding. */
CLF_API CLF_NODISCARD clf_status clf_transformer_embed(clf_transformer *transformer, int is_target, clf_layout layout,
                                                       const clf_tensor *tokens, clf_tensor *out);

/* Values of a layer that can be read while it runs. */
typedef enum clf_layer_value {
    CLF_LAYER_SELF_WEIGHTS,       /* [N,H,L,L]: weights of the self-attention after masks and softmax, before dropout */
    CLF_LAYER_SOURCE_WEIGHTS,     /* [N,H,T,S]: a decoder layer's attention to the memory, likewise */
    CLF_LAYER_FEED_FORWARD_INPUT, /* [N,L,C], in layout LND [L,N,C]: what its feed-forward network takes (pre-norm: after the norm) */
    CLF_LAYER_VALUE_COUNT
} clf_layer_value;

typedef struct clf_layer_output {
    int is_decoder; /* 0: of the encoder */
    int64_t layer;  /* from 0 */
    clf_layer_value value;
    clf_tensor *out; /* f32, any strides; overlaps nothing else of the call */
} clf_layer_output;

/* Dropout as training has it, in three places, and what a pass shows of its layers. An element x of a place with probability p becomes
 * clf_dropout's x / (1 - p) or 0, counted in C order of the shape below in either layout, with the seed
 *   seed + 0x9e3779b97f4a7c15 (16 layer + 8 is_decoder + place + 1) mod 2^64
 *   place 0, 2  attention weights [N,H,Q,K] of self-attention and attention to the memory
 *   place 1, 3  results of these attentions [N,L,C], before they are added to the rows
 *   place 4     hidden values of the feed-forward network [N,L,F], after activation and gate
 *   place 5     its result [N,L,C], before it is added
 * labml's MultiHeadAttention(dropout_prob) is weight_dropout, FeedForward(dropout) hidden_dropout, TransformerLayer(dropout_prob)
 * result_dropout. Embeddings have none. Probability 0 leaves every bit as it is without. */
typedef struct clf_transformer_params {
    size_t size;          /* sizeof(clf_transformer_params) */
    float weight_dropout; /* in [0,1); 0: none, inference */
    float hidden_dropout;
    float result_dropout;
    uint64_t seed;                   /* another one for each step of a training */
    clf_score_function score;        /* of every attention of the pass (attention.h); NULL: q.k */
    void *score_user;                /* its last argument */
    const clf_layer_output *outputs; /* what is read of layers; does not change a bit of the result */
    size_t output_count;
} clf_transformer_params;

#define CLF_TRANSFORMER_PARAMS_INIT {.size = sizeof(clf_transformer_params)}
CLF_API CLF_NODISCARD clf_status clf_transformer_params_default(clf_transformer_params *out, size_t size); /* clformer.h: options */

/* memory [N,S,C]: the encoder's output for the sources; masks over [S,S]. params NULL: the defaults. INVALID_ARGUMENT also: a probability
 * outside [0,1). INVALID_ARGUMENT also for outputs of a stack that does not run or of a layer that it does not have, for two outputs of one
 * value, and for the wrong shape ("E_SHAPE: ...") or dtype. */
CLF_API CLF_NODISCARD clf_status clf_transformer_encode(clf_transformer *transformer, clf_layout layout, const clf_tensor *source,
                                                        const clf_attention_masks *masks, const clf_transformer_params *params,
                                                        clf_tensor *memory);

/* features [N,T,C]: the decoder's output. source_masks over [T,S] apply to the attention to the memory, target_masks over [T,T] to the
 * targets' own (a decoder usually wants is_causal there). params as above. INVALID_ARGUMENT also: the network has no decoder. */
CLF_API CLF_NODISCARD clf_status clf_transformer_decode(clf_transformer *transformer, clf_layout layout, const clf_tensor *memory,
                                                        const clf_attention_masks *source_masks, const clf_tensor *target,
                                                        const clf_attention_masks *target_masks, const clf_transformer_params *params,
                                                        clf_tensor *features);

/* encode, then decode: features [N,T,C]. The encoder and the attention to the memory get the same source_masks. Unless S = T, a mask must
 * therefore have size 1 along its queries. */
CLF_API CLF_NODISCARD clf_status clf_transformer_forward(clf_transformer *transformer, clf_layout layout, const clf_tensor *source,
                                                         const clf_tensor *target, const clf_attention_masks *source_masks,
                                                         const clf_attention_masks *target_masks, const clf_transformer_params *params,
                                                         clf_tensor *features);

/* out [..., V]: logits of features [..., C]; is_log_softmax nonzero: their log-softmax instead. Features with evenly spaced rows, out dense
 * f32. */
CLF_API CLF_NODISCARD clf_status clf_transformer_generate(clf_transformer *transformer, const clf_tensor *features, int is_log_softmax,
                                                          clf_tensor *out);

/* Feed-forward network on its own: y = W2 h + b2, h = f(W1 x + b1), gated h = f(W1 x + b1) * (Wg x + bg). */
typedef struct clf_feed_forward_network clf_feed_forward_network;

/* w1, wg [F,C], w2 [C',F]; wg NULL: plain; biases NULL: none. The tensors are copied. INVALID_ARGUMENT ("E_SHAPE", "E_DTYPE"). */
CLF_API CLF_NODISCARD clf_status clf_feed_forward_create(clf_context *context, clf_activation activation, const clf_tensor *w1,
                                                         const clf_tensor *b1, const clf_tensor *wg, const clf_tensor *bg,
                                                         const clf_tensor *w2, const clf_tensor *b2, clf_feed_forward_network **out);
CLF_API void clf_feed_forward_destroy(clf_feed_forward_network *network); /* NULL is a no-op */

/* x [..., C] with evenly spaced rows, y [..., C'] likewise, f32, f16 or bf16. context: the network's, or one that shares its cl_context.
 * Enqueued. INVALID_ARGUMENT: shapes, dtypes, rows not evenly spaced, another context. */
CLF_API CLF_NODISCARD clf_status clf_feed_forward_apply(clf_context *context, const clf_feed_forward_network *network, const clf_tensor *x,
                                                        clf_tensor *y);

#ifdef __cplusplus
}
#endif
#endif
