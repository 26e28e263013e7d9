/* SPDX-License-Identifier: MIT */
/* T5 and Flan-T5 (Raffel et al. 2020; Shazeer 2020): pre-norm layers with RMS norms, scores that are not scaled but get a bias by the
 * bucket of their distance, heads of a size of their own, plain or gated feed-forward networks. */
#include <math.h>
#include <string.h>

#include "io/json.h"
#include "model/family.h"

enum { MOST_POSITIONS = 1 << 20 }; /* distances have buckets, so that any length runs */

static const char where[] = CLFI_MODEL_CONFIG;

static clf_status read_attention(const json_t *json, clf_stack_config *stack)
{
    clf_attention_shape *shape = &stack->attention;
    CLF_TRY(clfi_json_get_int(json, where, "num_heads", 1, CLFI_CONFIG_LARGEST, &shape->heads));
    CLF_TRY(clfi_json_get_int(json, where, "d_kv", 1, CLFI_CONFIG_LARGEST, &shape->head_size));
    CLF_TRY(clfi_json_opt_int(json, where, "relative_attention_num_buckets", 4, 1 << 12, 32, &stack->buckets.count));
    CLF_TRY(clfi_json_opt_int(json, where, "relative_attention_max_distance", 2, 1 << 20, 128, &stack->buckets.max_distance));
    if (stack->buckets.count % 4 != 0 || stack->buckets.max_distance <= stack->buckets.count)
        CLF_FAIL(CLF_FORMAT,
                 "%s: relative_attention_num_buckets is %lld, relative_attention_max_distance %lld: expected a multiple of 4 below it",
                 where, (long long)stack->buckets.count, (long long)stack->buckets.max_distance);
    shape->key_heads = shape->heads;
    shape->scale = 1.0f;
    return CLF_OK;
}

/* Whether the key is there with null, which means false for transformers. */
static bool is_null(const json_t *json, const char *key)
{
    return json_is_null(json_object_get(json, key));
}

/* feed_forward_proj: "relu", or "gated-" before the name of an activation; "gated-gelu" means the form with tanh. dense_act_fn and
 * is_gated_act override it. */
static clf_status read_feed_forward(const json_t *json, clf_stack_config *stack)
{
    static const char gated[] = "gated-";
    const char *name;
    CLF_TRY(clfi_json_opt_string(json, where, "feed_forward_proj", "relu", &name));
    stack->is_gated = strncmp(name, gated, strlen(gated)) == 0;
    const char *activation = name + (stack->is_gated ? strlen(gated) : 0);
    if (strcmp(name, "gated-gelu") == 0)
        activation = "gelu_new";
    CLF_TRY(clfi_model_activation_find("feed_forward_proj", activation, &stack->activation));
    CLF_TRY(clfi_json_opt_bool(json, where, "is_gated_act", stack->is_gated && !is_null(json, "is_gated_act"), &stack->is_gated));
    return clfi_model_config_activation(json, "dense_act_fn", activation, &stack->activation);
}

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    clf_network_config config = clfi_network_config_default();
    clf_stack_config *encoder = &config.encoder;
    int64_t decoder_layers;
    double eps;
    bool is_tied, is_scaled;
    CLF_TRY(clfi_model_config_one_way(json));
    CLF_TRY(clfi_json_get_int(json, where, "d_model", 1, CLFI_CONFIG_LARGEST, &encoder->width));
    CLF_TRY(clfi_json_get_int(json, where, "d_ff", 1, CLFI_CONFIG_LARGEST, &encoder->hidden_width));
    CLF_TRY(clfi_json_get_int(json, where, "num_layers", 1, CLFI_CONFIG_MOST_LAYERS, &encoder->layers));
    CLF_TRY(clfi_json_opt_int(json, where, "num_decoder_layers", 1, CLFI_CONFIG_MOST_LAYERS, encoder->layers, &decoder_layers));
    CLF_TRY(clfi_json_get_int(json, where, "vocab_size", 1, INT32_MAX, &config.source.vocabulary));
    CLF_TRY(clfi_json_opt_number(json, where, "layer_norm_epsilon", 0, 1, 1e-6, &eps));
    CLF_TRY(read_attention(json, encoder));
    CLF_TRY(read_feed_forward(json, encoder));
    encoder->norm = CLF_NORM_RMS;
    encoder->norm_eps = (float)eps;
    encoder->place = CLF_NORM_PRE;
    encoder->has_final_norm = true;
    config.source.max_positions = MOST_POSITIONS;
    CLF_TRY(clfi_json_opt_int(json, where, "n_positions", 1, MOST_POSITIONS, 0, &config.source.trained));
    CLF_TRY(clfi_model_config_no_windows(json, MOST_POSITIONS));
    config.target = config.source;
    config.decoder = config.encoder;
    config.decoder.layers = decoder_layers;
    config.decoder.attention.is_causal = config.decoder.has_source = true;
    config.has_generator = true;
    /* The first T5 shares its head's matrix with the embedding and scales the head's input; later ones do neither. transformers 5 has a key
     * for the scaling, and shares the matrix if the file stores none or a copy of the table. */
    CLF_TRY(clfi_json_opt_bool(json, where, "tie_word_embeddings", true, &is_tied));
    CLF_TRY(clfi_json_opt_bool(json, where, "scale_decoder_outputs", is_tied && !is_null(json, "scale_decoder_outputs"), &is_scaled));
    config.is_generator_tied = true;
    config.generator_scale = is_scaled ? (float)(1 / sqrt((double)encoder->width)) : 0;
    *out = config;
    return CLF_OK;
}

#define ATTENTION(source, prefix)                                                                                         \
    CLFI_WEIGHT(source##QUERY, prefix "q"), CLFI_WEIGHT(source##KEY, prefix "k"), CLFI_WEIGHT(source##VALUE, prefix "v"), \
        CLFI_WEIGHT(source##OUTPUT, prefix "o")
#define STACK(stack, ffn)                                                                                                         \
    CLFI_WEIGHT(TOKENS, stack ".embed_tokens"), CLFI_WEIGHT(TOKENS, "shared"),                                                    \
        CLFI_WEIGHT(DISTANCE_BIAS, stack ".block.0.layer.0.SelfAttention.relative_attention_bias"),                               \
        ATTENTION(, stack ".block.%d.layer.0.SelfAttention."), CLFI_WEIGHT(ATTENTION_NORM, stack ".block.%d.layer.0.layer_norm"), \
        CLFI_WEIGHT(FFN_IN, stack ".block.%d.layer." ffn ".DenseReluDense.wi"),                                                   \
        CLFI_WEIGHT(FFN_IN, stack ".block.%d.layer." ffn ".DenseReluDense.wi_0"),                                                 \
        CLFI_WEIGHT(FFN_GATE, stack ".block.%d.layer." ffn ".DenseReluDense.wi_1"),                                               \
        CLFI_WEIGHT(FFN_OUT, stack ".block.%d.layer." ffn ".DenseReluDense.wo"),                                                  \
        CLFI_WEIGHT(FFN_NORM, stack ".block.%d.layer." ffn ".layer_norm"), CLFI_WEIGHT(FINAL_NORM, stack ".final_layer_norm")

static const clf_weight_name encoder_names[] = {STACK("encoder", "1"), CLFI_WEIGHTS_END};
static const clf_weight_name decoder_names[] = {STACK("decoder", "2"), ATTENTION(SOURCE_, "decoder.block.%d.layer.1.EncDecAttention."),
                                                CLFI_WEIGHT(SOURCE_NORM, "decoder.block.%d.layer.1.layer_norm"), CLFI_WEIGHTS_END};
static const clf_weight_name head[] = {CLFI_WEIGHT(GENERATOR, "lm_head"), CLFI_WEIGHT(SHARED, "shared"), CLFI_WEIGHTS_END};
static const clf_name_map names = {.encoder = encoder_names, .decoder = decoder_names, .head = head, .wide_names = ".wo.weight"};

static const char *const aliases[][2] = {{"hidden_size", "d_model"},
                                         {"num_attention_heads", "num_heads"},
                                         {"num_hidden_layers", "num_layers"},
                                         {"head_dim", "d_kv"},
                                         {NULL, NULL}};

const clf_family clfi_family_t5 = {.model_type = "t5",
                                   .tasks = CLF_TASK_GENERATE,
                                   .read_config = read_config,
                                   .names = &names,
                                   .biases = clfi_biases_nowhere,
                                   .aliases = aliases};
