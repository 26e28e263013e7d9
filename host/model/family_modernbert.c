/* SPDX-License-Identifier: MIT */
/* ModernBERT (Warner et al. 2024): pre-norm layers with rotary positions and gated feed-forward networks; every third layer sees the whole
 * text, the others a window. */
#include <string.h>

#include "io/json.h"
#include "model/family.h"

static const char where[] = CLFI_MODEL_CONFIG;

static clf_status read_head(const json_t *json, clf_classifier_config *head)
{
    const char *pooling;
    CLF_TRY(clfi_json_opt_string(json, where, "classifier_pooling", "cls", &pooling));
    if (strcmp(pooling, "cls") != 0 && strcmp(pooling, "mean") != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: classifier_pooling \"%s\": expected \"cls\" or \"mean\"", where, pooling);
    head->pooling = strcmp(pooling, "cls") == 0 ? CLF_POOLING_CLS : CLF_POOLING_MEAN;
    head->has_norm = true;
    return clfi_model_config_activation(json, "classifier_activation", "gelu", &head->activation);
}

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    clf_network_config config = clfi_network_config_default();
    clf_stack_config *encoder = &config.encoder;
    double eps;
    int64_t span, reach, period;
    CLF_TRY(clfi_model_config_sizes(json, &clfi_hub_size_keys, encoder, &config.source));
    CLF_TRY(clfi_json_opt_int(json, where, "global_attn_every_n_layers", 1, CLFI_CONFIG_MOST_LAYERS, 3, &period));
    CLF_TRY(clfi_model_config_local_layers(json, &(clf_local_rule){.period = period}, encoder));
    CLF_TRY(clfi_model_config_activation(json, "hidden_activation", "gelu", &encoder->activation));
    CLF_TRY(clfi_json_opt_number(json, where, "norm_eps", 0, 1, 1e-5, &eps));
    CLF_TRY(clfi_json_opt_int(json, where, "local_attention", 1, CLFI_CONFIG_LARGEST, 128, &span));
    CLF_TRY(clfi_json_opt_int(json, where, "sliding_window", 0, CLFI_CONFIG_LARGEST, span / 2, &reach)); /* overrides local_attention */
    encoder->local = encoder->attention;
    CLF_TRY(clfi_model_config_rotary(json, "full_attention", "global_rope_theta", 160000, &encoder->attention.rotary));
    const bool is_null = json_is_null(json_object_get(json, "local_rope_theta")); /* then the base of the other layers */
    CLF_TRY(clfi_model_config_rotary(json, "sliding_attention", "local_rope_theta", is_null ? encoder->attention.rotary.base : 10000,
                                     &encoder->local.rotary));
    encoder->attention.rotary.dims = encoder->local.rotary.dims = encoder->attention.head_size;
    encoder->local.window = (int32_t)(reach + 1);
    encoder->norm_eps = (float)eps;
    encoder->place = CLF_NORM_PRE;
    encoder->lacks_first_norm = encoder->has_final_norm = encoder->is_gated = true;
    config.source.has_norm = true;
    config.classifier.norm_eps = encoder->norm_eps;
    CLF_TRY(read_head(json, &config.classifier));
    *out = config;
    return CLF_OK;
}

static const clf_weight_name encoder_names[] = {
    CLFI_WEIGHT(TOKENS, "embeddings.tok_embeddings"),
    CLFI_WEIGHT(EMBEDDING_NORM, "embeddings.norm"),
    CLFI_WEIGHT_FUSED_QKV("layers.%d.attn.Wqkv"),
    CLFI_WEIGHT(OUTPUT, "layers.%d.attn.Wo"),
    CLFI_WEIGHT(ATTENTION_NORM, "layers.%d.attn_norm"),
    CLFI_WEIGHT_FUSED("layers.%d.mlp.Wi", CLF_WEIGHT_FFN_IN, CLF_WEIGHT_FFN_GATE),
    CLFI_WEIGHT(FFN_OUT, "layers.%d.mlp.Wo"),
    CLFI_WEIGHT(FFN_NORM, "layers.%d.mlp_norm"),
    CLFI_WEIGHT(FINAL_NORM, "final_norm"),
    CLFI_WEIGHTS_END,
};

static const clf_weight_name head[] = {
    CLFI_WEIGHT(CLASSIFIER_DENSE, "/head.dense"),
    CLFI_WEIGHT(CLASSIFIER_NORM, "/head.norm"),
    CLFI_WEIGHT(CLASSIFIER, "/classifier"),
    CLFI_WEIGHTS_END,
};

static const clf_name_map names = {.prefixes = (const char *const[]){"", "model.", NULL}, .encoder = encoder_names, .head = head};

#define NORMS \
    (CLFI_ROLE(EMBEDDING_NORM) | CLFI_ROLE(ATTENTION_NORM) | CLFI_ROLE(FFN_NORM) | CLFI_ROLE(FINAL_NORM) | CLFI_ROLE(CLASSIFIER_NORM))

static const clf_bias_rule biases[] = {{NORMS, "norm_bias", false},
                                       {CLFI_ROLES_ATTENTION, "attention_bias", false},
                                       {CLFI_ROLES_FFN, "mlp_bias", false},
                                       {CLFI_ROLE(CLASSIFIER_DENSE), "classifier_bias", false},
                                       {CLFI_EVERY_ROLE, NULL, true}};

const clf_family clfi_family_modernbert = {
    .model_type = "modernbert", .tasks = CLF_TASK_EMBED, .read_config = read_config, .names = &names, .biases = biases};
