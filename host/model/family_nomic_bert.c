/* SPDX-License-Identifier: MIT */
/* Nomic BERT (Nussbaum et al. 2024): BERT with rotary positions, gated feed-forward networks and no biases. config.json comes with
 * the authors' keys or with those of transformers. */
#include <string.h>

#include "io/json.h"
#include "model/family.h"

static const char where[] = CLFI_MODEL_CONFIG;

/* The authors' keys, those of GPT-2. */
static clf_status read_original(const json_t *json, clf_network_config *config, clf_rotary *rotary)
{
    static const clf_size_keys keys = {"n_embd", "n_inner", "n_head", "n_layer", "vocab_size", "n_positions"};
    static const clf_expected_flag flags[] = {{"prenorm", false},
                                              {"parallel_block", false},
                                              {"use_rms_norm", false},
                                              {"rotary_emb_interleaved", false},
                                              {"causal", false},
                                              {"scale_attn_weights", true},
                                              {"scale_attn_by_inverse_layer_idx", false}};
    static const char *const absent[] = {"rotary_scaling_factor", "rotary_emb_scale_base"};
    const char *activation;
    double fraction, eps;
    CLF_TRY(clfi_model_config_expect(json, flags, COUNT(flags)));
    CLF_TRY(clfi_model_config_absent(json, absent, COUNT(absent)));
    CLF_TRY(clfi_model_config_sizes(json, &keys, &config->encoder, &config->source));
    CLF_TRY(clfi_json_opt_string(json, where, "activation_function", "swiglu", &activation));
    if (strcmp(activation, "swiglu") != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: activation_function \"%s\": expected \"swiglu\"", where, activation);
    CLF_TRY(clfi_json_opt_number(json, where, "rotary_emb_fraction", 0.01, 1, 1, &fraction));
    CLF_TRY(clfi_json_opt_number(json, where, "rotary_emb_base", 1, 1e12, 10000, &rotary->base));
    CLF_TRY(clfi_json_opt_number(json, where, "layer_norm_epsilon", 0, 1, 1e-12, &eps));
    rotary->dims = (int64_t)((double)config->encoder.attention.head_size * fraction);
    config->encoder.norm_eps = (float)eps;
    config->encoder.activation = CLF_ACTIVATION_SILU;
    return CLF_OK;
}

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    clf_network_config config = clfi_network_config_default();
    clf_rotary rotary = {.base = 1000};
    if (json_object_get(json, "n_embd")) {
        CLF_TRY(read_original(json, &config, &rotary));
    } else {
        CLF_TRY(clfi_bert_read_config(json, &config));
        CLF_TRY(clfi_model_config_activation(json, "hidden_act", "silu", &config.encoder.activation));
        CLF_TRY(clfi_model_config_rotary(json, NULL, "rope_theta", 1000, &rotary));
        rotary.dims = config.encoder.attention.head_size;
    }
    CLF_TRY(clfi_json_opt_int(json, where, "type_vocab_size", 0, CLFI_CONFIG_LARGEST, 2, &config.source.types));
    config.encoder.attention.rotary = rotary;
    config.encoder.is_gated = true;
    config.source.positions = CLF_POSITIONS_NONE;
    config.source.has_norm = true;
    config.classifier = (clf_classifier_config){.pooling = CLF_POOLING_CLS, .activation = CLF_ACTIVATION_TANH};
    *out = config;
    return CLF_OK;
}

static const clf_weight_name encoder[] = {
    CLFI_WEIGHT(TOKENS, "embeddings.word_embeddings"),
    CLFI_WEIGHT(TYPES, "embeddings.token_type_embeddings"),
    CLFI_WEIGHT(EMBEDDING_NORM, "emb_ln"),
    CLFI_WEIGHT_FUSED_QKV("encoder.layers.%d.attn.Wqkv"),
    CLFI_WEIGHT(OUTPUT, "encoder.layers.%d.attn.out_proj"),
    CLFI_WEIGHT(ATTENTION_NORM, "encoder.layers.%d.norm1"),
    CLFI_WEIGHT(FFN_IN, "encoder.layers.%d.mlp.fc12"),
    CLFI_WEIGHT(FFN_GATE, "encoder.layers.%d.mlp.fc11"),
    CLFI_WEIGHT(FFN_OUT, "encoder.layers.%d.mlp.fc2"),
    CLFI_WEIGHT(FFN_NORM, "encoder.layers.%d.norm2"),
    CLFI_WEIGHTS_END,
};

static const clf_name_map names = {
    .prefixes = (const char *const[]){"", "bert.", "nomic_bert.", NULL}, .encoder = encoder, .head = clfi_bert_head};

static const clf_bias_rule biases[] = {{CLFI_ROLES_ATTENTION, "qkv_proj_bias", false},
                                       {CLFI_ROLE(FFN_IN) | CLFI_ROLE(FFN_GATE), "mlp_fc1_bias", false},
                                       {CLFI_ROLE(FFN_OUT), "mlp_fc2_bias", false},
                                       {CLFI_EVERY_ROLE, NULL, true}};

const clf_family clfi_family_nomic_bert = {
    .model_type = "nomic_bert", .tasks = CLF_TASK_EMBED, .read_config = read_config, .names = &names, .biases = biases};
