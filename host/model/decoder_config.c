/* SPDX-License-Identifier: MIT */
/* Reads config.json of decoders that are built like Llama. */
#include <string.h>

#include "io/json.h"
#include "model/family.h"

static const char where[] = CLFI_MODEL_CONFIG;

/* Reads divisors of frequencies: those of a GGUF file, or those that a scaling brought. */
static clf_status read_divisors(const json_t *json, clf_rotary *rotary)
{
    const json_t *list;
    CLF_TRY(clfi_json_opt_array(json, where, "rope_frequency_factors", &list));
    if (list)
        CLF_TRY(clfi_model_config_divisors(list, where, "rope_frequency_factors", rotary));
    if (rotary->divisor_count && rotary->divisor_count != rotary->dims / 2)
        CLF_FAIL(CLF_FORMAT, "%s: %s has %d numbers, expected one for each of %lld pairs, %d at most", where,
                 list ? "rope_frequency_factors" : "short_factor", rotary->divisor_count, (long long)rotary->dims / 2,
                 CLFI_ROTARY_MOST_DIVISORS);
    return CLF_OK;
}

static bool is_of_gguf(const json_t *json)
{
    return json_object_get(json, "rope_interleaved") != NULL;
}

/* Refuses scalings of rotary positions that transformers reads in another way for this model_type: yarn, which becomes longrope, and
 * longrope without the key beside rope_parameters, whose default overrides the key in it. */
static clf_status expect_trained(const json_t *json, int64_t standard, const clf_rotary *rotary)
{
    static const char key[] = "original_max_position_embeddings";
    const json_t *value = json_object_get(json, key);
    if (rotary->scaling == CLF_ROTARY_YARN)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: rope_type \"yarn\": expected longrope for this model_type", where);
    if (rotary->divisor_count && !json_is_integer(value) && rotary->trained_positions != standard)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is absent, which means %lld for this model_type: expected %lld", where, key, (long long)standard,
                 (long long)rotary->trained_positions);
    return CLF_OK;
}

static clf_status read_attention(const json_t *json, const clf_decoder_defaults *defaults, clf_attention_shape *shape, int64_t width)
{
    double fraction;
    const json_t *parameters;
    const char *at;
    CLF_TRY(clfi_json_get_int(json, where, "num_attention_heads", 1, CLFI_CONFIG_LARGEST, &shape->heads));
    CLF_TRY(clfi_json_opt_int(json, where, "num_key_value_heads", 1, CLFI_CONFIG_LARGEST, shape->heads, &shape->key_heads));
    CLF_TRY(clfi_json_opt_int(json, where, "head_dim", 1, CLFI_CONFIG_LARGEST, width / shape->heads, &shape->head_size));
    if (shape->head_size < 1)
        CLF_FAIL(CLF_FORMAT, "%s: hidden_size is %lld for %lld heads: expected at least one element for each", where, (long long)width,
                 (long long)shape->heads);
    if (shape->heads % shape->key_heads != 0)
        CLF_FAIL(CLF_FORMAT, "%s: num_attention_heads is %lld: expected a multiple of num_key_value_heads, %lld", where,
                 (long long)shape->heads, (long long)shape->key_heads);
    CLF_TRY(clfi_json_opt_number(json, where, "partial_rotary_factor", 0.01, 1, 1, &fraction));
    CLF_TRY(clfi_model_config_rope(json, NULL, &parameters, &at));
    if (parameters)
        CLF_TRY(clfi_json_opt_number(parameters, at, "partial_rotary_factor", 0.01, 1, fraction, &fraction));
    if (fraction < 1 && !defaults->turns_parts && !is_of_gguf(json))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: partial_rotary_factor is %g: expected 1, as transformers takes it for this model_type", where,
                 fraction);
    CLF_TRY(clfi_model_config_rotary(json, NULL, "rope_theta", defaults->rope_theta, &shape->rotary));
    if (defaults->trained_positions && !is_of_gguf(json))
        CLF_TRY(expect_trained(json, defaults->trained_positions, &shape->rotary));
    shape->rotary.dims = (int64_t)((double)shape->head_size * fraction + 1e-6);
    CLF_TRY(clfi_json_opt_bool(json, where, "rope_interleaved", false, &shape->rotary.is_interleaved));
    return read_divisors(json, &shape->rotary);
}

clf_status clfi_decoder_read_config(const json_t *json, const clf_decoder_defaults *defaults, clf_network_config *out)
{
    clf_network_config config = clfi_network_config_default();
    clf_stack_config *decoder = &config.decoder;
    double eps;
    CLF_TRY(clfi_json_get_int(json, where, "hidden_size", 1, CLFI_CONFIG_LARGEST, &decoder->width));
    CLF_TRY(clfi_json_get_int(json, where, "intermediate_size", 1, CLFI_CONFIG_LARGEST, &decoder->hidden_width));
    CLF_TRY(clfi_json_get_int(json, where, "num_hidden_layers", 1, CLFI_CONFIG_MOST_LAYERS, &decoder->layers));
    CLF_TRY(clfi_json_get_int(json, where, "vocab_size", 1, INT32_MAX, &config.target.vocabulary));
    CLF_TRY(clfi_json_get_int(json, where, "max_position_embeddings", 1, CLFI_CONFIG_LARGEST, &config.target.max_positions));
    CLF_TRY(read_attention(json, defaults, &decoder->attention, decoder->width));
    const clf_rotary *rotary = &decoder->attention.rotary;
    if (rotary->scaling == CLF_ROTARY_PLAIN && rotary->trained_positions > 0 && rotary->trained_positions < config.target.max_positions)
        config.target.max_positions = rotary->trained_positions; /* longrope */
    CLF_TRY(clfi_json_opt_number(json, where, "rms_norm_eps", 0, 1, defaults->norm_eps, &eps));
    CLF_TRY(clfi_model_config_activation(json, defaults->activation_key ? defaults->activation_key : "hidden_act", defaults->activation,
                                         &decoder->activation));
    CLF_TRY(clfi_json_opt_bool(json, where, "tie_word_embeddings", defaults->is_tied, &config.is_generator_tied));
    decoder->norm_eps = (float)eps;
    decoder->norm = CLF_NORM_RMS;
    decoder->place = CLF_NORM_PRE;
    decoder->is_gated = decoder->has_final_norm = config.has_generator = true;
    CLF_TRY(clfi_json_opt_bool(json, where, "is_causal", true, &decoder->attention.is_causal));
    *out = config;
    return CLF_OK;
}

/* Refuses layers with windows where no width is given: transformers cannot compute them. */
static clf_status expect_no_windows(const json_t *json, const clf_stack_config *decoder)
{
    clf_stack_config stack = *decoder;
    CLF_TRY(clfi_model_config_local_layers(json, &(clf_local_rule){.first = stack.layers}, &stack));
    if (clfi_stack_local_count(&stack) > 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: layer_types has \"sliding_attention\": expected a sliding_window that is used", where);
    return CLF_OK;
}

clf_status clfi_decoder_read_windows(const json_t *json, int64_t standard, const clf_local_rule *rule, clf_network_config *config)
{
    clf_stack_config *decoder = &config->decoder;
    const json_t *value = json_object_get(json, "sliding_window");
    int64_t window = 0; /* null: none */
    if (!json_is_null(value))
        CLF_TRY(clfi_json_opt_int(json, where, "sliding_window", 1, INT32_MAX, standard, &window));
    if (window == 0)
        return expect_no_windows(json, decoder);
    if (!decoder->attention.is_causal)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: is_causal is false: expected no sliding_window, found %lld", where, (long long)window);
    decoder->local = decoder->attention;
    decoder->local.window = (int32_t)window;
    CLF_TRY(clfi_model_config_local_layers(json, rule, decoder));
    if (clfi_stack_local_count(decoder) == decoder->layers) { /* all layers are alike */
        decoder->attention = decoder->local;
        memset(decoder->local_layers, 0, sizeof decoder->local_layers);
    }
    return CLF_OK;
}

clf_status clfi_decoder_read_upper_windows(const json_t *json, clf_network_config *config)
{
    enum { GLOBAL_LAYERS = 28 };
    bool has_windows;
    clf_local_rule rule = {.first = 0};
    CLF_TRY(clfi_json_opt_bool(json, where, "use_sliding_window", false, &has_windows));
    CLF_TRY(clfi_json_opt_int(json, where, "max_window_layers", 0, CLFI_CONFIG_LARGEST, GLOBAL_LAYERS, &rule.first));
    return has_windows ? clfi_decoder_read_windows(json, CLFI_WINDOW, &rule, config) : expect_no_windows(json, &config->decoder);
}

clf_status clfi_decoder_read_one_window(const json_t *json, int64_t standard, clf_network_config *config)
{
    CLF_TRY(clfi_decoder_read_windows(json, standard, &(clf_local_rule){.first = 0}, config));
    if (config->decoder.local.window != config->decoder.attention.window)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: layer_types has \"full_attention\" beside sliding_window: expected windows in all layers", where);
    return config->decoder.attention.window ? CLF_OK : clfi_model_config_no_windows(json, config->target.max_positions);
}
