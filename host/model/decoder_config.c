/* SPDX-License-Identifier: MIT */
/* config.json of decoders that are built as Llama is. */
#include <math.h>
#include <string.h>

#include "io/json.h"
#include "model/family.h"

static const char where[] = CLFI_MODEL_CONFIG;

/* GGUF's divisors of frequencies. */
static clf_status read_divisors(const json_t *json, clf_rotary *rotary)
{
    const json_t *list;
    CLF_TRY(clfi_json_opt_array(json, where, "rope_frequency_factors", &list));
    if (!list)
        return CLF_OK;
    if (json_array_size(list) != (size_t)rotary->dims / 2 || json_array_size(list) > CLFI_ROTARY_MOST_DIVISORS)
        CLF_FAIL(CLF_FORMAT, "%s: rope_frequency_factors has %zu numbers, expected one for each of %lld pairs, %d at most", where,
                 json_array_size(list), (long long)rotary->dims / 2, CLFI_ROTARY_MOST_DIVISORS);
    rotary->divisor_count = (int32_t)json_array_size(list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const double divisor = json_number_value(json_array_get(list, i));
        if (!(divisor > 0) || !isfinite(divisor))
            CLF_FAIL(CLF_FORMAT, "%s: rope_frequency_factors[%zu]: expected a number above 0", where, i);
        rotary->divisors[i] = (float)divisor;
    }
    return CLF_OK;
}

static clf_status read_attention(const json_t *json, double rope_theta, clf_attention_shape *shape, int64_t width)
{
    double fraction;
    CLF_TRY(clfi_json_get_int(json, where, "num_attention_heads", 1, CLFI_CONFIG_LARGEST, &shape->heads));
    CLF_TRY(clfi_json_opt_int(json, where, "num_key_value_heads", 1, CLFI_CONFIG_LARGEST, shape->heads, &shape->key_heads));
    CLF_TRY(clfi_json_opt_int(json, where, "head_dim", 1, CLFI_CONFIG_LARGEST, width / shape->heads, &shape->head_size));
    CLF_TRY(clfi_json_opt_number(json, where, "partial_rotary_factor", 0.01, 1, 1, &fraction));
    CLF_TRY(clfi_model_config_rotary(json, NULL, rope_theta, &shape->rotary));
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
    CLF_TRY(read_attention(json, defaults->rope_theta, &decoder->attention, decoder->width));
    CLF_TRY(clfi_json_opt_number(json, where, "rms_norm_eps", 0, 1, defaults->norm_eps, &eps));
    CLF_TRY(clfi_model_config_activation(json, defaults->activation_key ? defaults->activation_key : "hidden_act",
                                         defaults->activation, &decoder->activation));
    CLF_TRY(clfi_json_opt_bool(json, where, "tie_word_embeddings", defaults->is_tied, &config.is_generator_tied));
    decoder->norm_eps = (float)eps;
    decoder->norm = CLF_NORM_RMS;
    decoder->place = CLF_NORM_PRE;
    decoder->is_gated = decoder->has_final_norm = config.has_generator = true;
    decoder->attention.is_causal = true;
    *out = config;
    return CLF_OK;
}

/* layer_types: the first global layer, and the distance from one to the next. *out_first -1: none. */
static clf_status read_types(const json_t *types, int64_t layers, int64_t *out_first, int64_t *out_period)
{
    int64_t first = -1, period = layers;
    if (json_array_size(types) != (size_t)layers)
        CLF_FAIL(CLF_FORMAT, "%s: layer_types has %zu entries, expected num_hidden_layers, %lld", where, json_array_size(types),
                 (long long)layers);
    for (int64_t i = 0; i < layers; i++) {
        const char *type = json_string_value(json_array_get(types, (size_t)i));
        const bool is_global = type && strcmp(type, "full_attention") == 0;
        if (!type || (!is_global && strcmp(type, "sliding_attention") != 0))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: layer_types[%lld]: expected \"full_attention\" or \"sliding_attention\"", where, (long long)i);
        if (is_global && first >= 0 && period == layers)
            period = i - first;
        if (is_global && first < 0)
            first = i;
        if (first >= 0 && is_global != ((i - first) % period == 0))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: layer_types[%lld]: expected global layers at one distance", where, (long long)i);
    }
    if (first >= period)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: layer_types: expected a global layer among the first %lld", where, (long long)period);
    *out_first = first;
    *out_period = period;
    return CLF_OK;
}

clf_status clfi_decoder_read_windows(const json_t *json, int64_t period, clf_network_config *config)
{
    clf_stack_config *decoder = &config->decoder;
    int64_t window, first = period - 1;
    const json_t *types;
    CLF_TRY(clfi_json_opt_int(json, where, "sliding_window", 0, INT32_MAX, 0, &window));
    CLF_TRY(clfi_json_opt_array(json, where, "layer_types", &types));
    if (types)
        CLF_TRY(read_types(types, decoder->layers, &first, &period));
    if (window == 0 || (first >= 0 && period == 1))
        return CLF_OK;
    decoder->local = decoder->attention;
    decoder->local.window = (int32_t)window;
    if (first < 0) {
        decoder->attention = decoder->local;
        return CLF_OK;
    }
    decoder->global_period = period;
    decoder->global_phase = first;
    return CLF_OK;
}
