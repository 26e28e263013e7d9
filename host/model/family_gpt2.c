/* SPDX-License-Identifier: MIT */
/* GPT-2 (Radford et al. 2019): pre-norm layers with layer norms, learned positions and biases; transformers stores its matrices
 * transposed. */
#include "io/json.h"
#include "model/family.h"

static const char where[] = CLFI_MODEL_CONFIG;

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    static const clf_size_keys own = {"n_embd", NULL, "n_head", "n_layer", "vocab_size", "n_positions"};
    static const clf_expected_flag flags[] = {{"add_cross_attention", false}, {"is_causal", true}};
    clf_network_config config = clfi_network_config_default();
    clf_stack_config *decoder = &config.decoder;
    double eps;
    bool is_scaled;
    CLF_TRY(clfi_model_config_expect(json, flags, COUNT(flags)));
    if (json_object_get(json, "n_embd")) {
        CLF_TRY(clfi_model_config_sizes(json, &own, decoder, &config.target));
        CLF_TRY(clfi_json_opt_int(json, where, "n_inner", 1, CLFI_CONFIG_LARGEST, 4 * decoder->width, &decoder->hidden_width));
    } else {
        CLF_TRY(clfi_model_config_sizes(json, &clfi_hub_size_keys, decoder, &config.target));
    }
    CLF_TRY(clfi_model_config_activation(json, "activation_function", "gelu_new", &decoder->activation));
    CLF_TRY(clfi_json_opt_number(json, where, "layer_norm_epsilon", 0, 1, 1e-5, &eps));
    CLF_TRY(clfi_json_opt_bool(json, where, "tie_word_embeddings", true, &config.is_generator_tied));
    CLF_TRY(clfi_json_opt_bool(json, where, "scale_attn_weights", true, &is_scaled));
    CLF_TRY(clfi_json_opt_bool(json, where, "scale_attn_by_inverse_layer_idx", false, &decoder->divides_by_depth));
    if (!is_scaled)
        decoder->attention.scale = 1.0f;
    CLF_TRY(clfi_model_config_no_windows(json, config.target.max_positions));
    config.target.positions = CLF_POSITIONS_LEARNED;
    decoder->norm_eps = (float)eps;
    decoder->place = CLF_NORM_PRE;
    decoder->has_final_norm = config.has_generator = true;
    *out = config;
    return CLF_OK;
}

static const clf_weight_name names_of_decoder[] = {
    CLFI_WEIGHT(TOKENS, "wte"),
    CLFI_WEIGHT(POSITIONS, "wpe"),
    {.role = CLF_WEIGHT_FUSED,
     .pattern = "h.%d.attn.c_attn",
     .parts = {CLF_WEIGHT_QUERY, CLF_WEIGHT_KEY, CLF_WEIGHT_VALUE},
     .stored = CLF_STORED_TRANSPOSED},
    CLFI_WEIGHT_STORED(OUTPUT, "h.%d.attn.c_proj", TRANSPOSED),
    CLFI_WEIGHT_STORED(FFN_IN, "h.%d.mlp.c_fc", TRANSPOSED),
    CLFI_WEIGHT_STORED(FFN_OUT, "h.%d.mlp.c_proj", TRANSPOSED),
    CLFI_WEIGHT(ATTENTION_NORM, "h.%d.ln_1"),
    CLFI_WEIGHT(FFN_NORM, "h.%d.ln_2"),
    CLFI_WEIGHT(FINAL_NORM, "ln_f"),
    CLFI_WEIGHTS_END,
};
static const clf_weight_name head[] = {CLFI_WEIGHT(GENERATOR, "/lm_head"), CLFI_WEIGHTS_END};

static const clf_name_map names = {.prefixes = (const char *const[]){"transformer.", "", NULL}, .decoder = names_of_decoder, .head = head};

static const char *const aliases[][2] = {{"hidden_size", "n_embd"},
                                         {"max_position_embeddings", "n_positions"},
                                         {"num_attention_heads", "n_head"},
                                         {"num_hidden_layers", "n_layer"},
                                         {NULL, NULL}};

const clf_family clfi_family_gpt2 = {.model_type = "gpt2",
                                     .tasks = CLF_TASK_GENERATE,
                                     .read_config = read_config,
                                     .names = &names,
                                     .biases = clfi_biases_everywhere,
                                     .aliases = aliases};
