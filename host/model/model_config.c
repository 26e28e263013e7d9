/* SPDX-License-Identifier: MIT */
/* Reads keys of config.json that several families share. */
#include "model/model_config.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "io/json.h"

static const char where[] = CLFI_MODEL_CONFIG;

const clf_size_keys clfi_hub_size_keys = {.width = "hidden_size",
                                          .hidden_width = "intermediate_size",
                                          .heads = "num_attention_heads",
                                          .layers = "num_hidden_layers",
                                          .vocabulary = "vocab_size",
                                          .max_positions = "max_position_embeddings"};

static clf_status read_size(const json_t *config, const char *key, int64_t least, int64_t most, int64_t *out)
{
    return key ? clfi_json_get_int(config, where, key, least, most, out) : CLF_OK;
}

clf_status clfi_model_config_sizes(const json_t *config, const clf_size_keys *keys, clf_stack_config *stack,
                                   clf_embedding_config *embedding)
{
    int64_t heads = 1;
    CLF_TRY(read_size(config, keys->width, 1, CLFI_CONFIG_LARGEST, &stack->width));
    CLF_TRY(read_size(config, keys->hidden_width, 1, CLFI_CONFIG_LARGEST, &stack->hidden_width));
    CLF_TRY(read_size(config, keys->heads, 1, CLFI_CONFIG_LARGEST, &heads));
    CLF_TRY(read_size(config, keys->layers, 1, CLFI_CONFIG_MOST_LAYERS, &stack->layers));
    CLF_TRY(read_size(config, keys->vocabulary, 1, INT32_MAX, &embedding->vocabulary));
    CLF_TRY(read_size(config, keys->max_positions, 1, CLFI_CONFIG_LARGEST, &embedding->max_positions));
    if (stack->width % heads != 0)
        CLF_FAIL(CLF_FORMAT, "%s: %s %lld is not a multiple of %s %lld", where, keys->width, (long long)stack->width, keys->heads,
                 (long long)heads);
    clfi_stack_config_heads(stack, heads);
    return CLF_OK;
}

clf_status clfi_model_config_activation(const json_t *config, const char *key, const char *standard, clf_activation *out)
{
    const char *name;
    CLF_TRY(clfi_json_opt_string(config, where, key, standard, &name));
    return clfi_model_activation_find(key, name, out);
}

clf_status clfi_model_activation_find(const char *key, const char *name, clf_activation *out)
{
    static const struct {
        const char *name;
        clf_activation activation;
    } rows[] = {
        {"gelu", CLF_ACTIVATION_GELU},
        {"gelu_python", CLF_ACTIVATION_GELU},
        {"gelu_10", CLF_ACTIVATION_GELU_10},
        {"gelu_accurate", CLF_ACTIVATION_GELU_TANH},
        {"gelu_python_tanh", CLF_ACTIVATION_GELU_TANH},
        {"gelu_new", CLF_ACTIVATION_GELU_TANH},
        {"gelu_pytorch_tanh", CLF_ACTIVATION_GELU_TANH},
        {"gelu_fast", CLF_ACTIVATION_GELU_TANH},
        {"quick_gelu", CLF_ACTIVATION_GELU_QUICK},
        {"relu", CLF_ACTIVATION_RELU},
        {"sigmoid", CLF_ACTIVATION_SIGMOID},
        {"silu", CLF_ACTIVATION_SILU},
        {"swish", CLF_ACTIVATION_SILU},
        {"tanh", CLF_ACTIVATION_TANH},
        {"hardswish", CLF_ACTIVATION_HARDSWISH},
        {"leaky_relu", CLF_ACTIVATION_LEAKY_RELU},
        {"linear", CLF_ACTIVATION_NONE},
        {"mish", CLF_ACTIVATION_MISH},
        {"relu2", CLF_ACTIVATION_RELU2},
        {"relu6", CLF_ACTIVATION_RELU6},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *out = rows[i].activation;
            return CLF_OK;
        }
    }
    clf_str known = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; i < COUNT(rows) && st == CLF_OK; i++)
        st = clfi_str_appendf(&known, i ? ", %s" : "%s", rows[i].name);
    if (st == CLF_OK)
        st = clfi_fail(CLF_UNSUPPORTED, "%s: %s \"%s\": expected one of %s", where, key, name, clfi_str_text(&known));
    clfi_str_free(&known);
    return st;
}

clf_status clfi_model_config_expect(const json_t *config, const clf_expected_flag *flags, size_t count)
{
    const char *type;
    CLF_TRY(clfi_json_opt_string(config, where, "model_type", "", &type));
    for (size_t i = 0; i < count; i++) {
        bool value;
        CLF_TRY(clfi_json_opt_bool(config, where, flags[i].key, flags[i].value, &value));
        if (value != flags[i].value)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %s: expected %s for model_type \"%s\"", where, flags[i].key, value ? "true" : "false",
                     value ? "false" : "true", type);
    }
    return CLF_OK;
}

clf_status clfi_model_config_absent(const json_t *config, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char found[CLFI_JSON_FOUND_BYTES];
        const json_t *value = json_object_get(config, keys[i]);
        if (value && !json_is_null(value))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: expected null, found %s", where, keys[i], clfi_json_found(value, found));
    }
    return CLF_OK;
}

clf_status clfi_model_config_one_way(const json_t *config)
{
    return clfi_model_config_absent(config, (const char *const[]){"is_causal"}, 1);
}

clf_status clfi_model_config_no_windows(const json_t *config, int64_t positions)
{
    static const char *const keys[] = {"sliding_window", "attention_chunk_size"};
    const char *type;
    if (json_object_get(config, "rope_interleaved")) /* GGUF */
        return CLF_OK;
    CLF_TRY(clfi_json_opt_string(config, where, "model_type", "", &type));
    for (size_t i = 0; i < COUNT(keys); i++) {
        int64_t window;
        CLF_TRY(clfi_json_opt_int(config, where, keys[i], 1, INT32_MAX, positions, &window));
        if (window < positions)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: expected null or at least %lld for model_type \"%s\", found %lld", where, keys[i],
                     (long long)positions, type, (long long)window);
    }
    return CLF_OK;
}

/* Reads the length that the model was trained for before it was scaled. transformers prefers the key beside rope_parameters. */
static clf_status read_trained(const json_t *json, const char *at, const json_t *config, int64_t max_positions, clf_rotary *out)
{
    static const char key[] = "original_max_position_embeddings";
    int64_t outer;
    CLF_TRY(clfi_json_opt_int(config, where, key, 2, CLFI_CONFIG_LARGEST, max_positions, &outer));
    CLF_TRY(clfi_json_opt_int(json, at, key, 2, CLFI_CONFIG_LARGEST, outer, &out->trained_positions));
    if (json_object_get(config, key) && out->trained_positions != outer)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %lld and in %s %lld: expected the same number", where, key, (long long)outer, at,
                 (long long)out->trained_positions);
    return CLF_OK;
}

/* Reads yarn's keys. The magnitude is attention_factor; without the key it follows from the factor, and from mscale and mscale_all_dim
 * where a file has both. */
static clf_status read_yarn(const json_t *json, const char *at, clf_rotary *out)
{
    double scale, all, standard;
    bool is_truncated;
    CLF_TRY(clfi_json_opt_bool(json, at, "truncate", true, &is_truncated));
    out->has_exact_range = !is_truncated;
    CLF_TRY(clfi_json_opt_number(json, at, "beta_fast", 1e-6, 1e6, 32, &out->high_frequency_factor));
    CLF_TRY(clfi_json_opt_number(json, at, "beta_slow", 1e-6, 1e6, 1, &out->low_frequency_factor));
    CLF_TRY(clfi_json_opt_number(json, at, "mscale", 0, 1e6, 0, &scale));
    CLF_TRY(clfi_json_opt_number(json, at, "mscale_all_dim", 0, 1e6, 0, &all));
    const double growth = 0.1 * log(out->factor);
    standard = scale > 0 && all > 0 ? (growth * scale + 1) / (growth * all + 1) : growth + 1;
    return clfi_json_opt_number(json, at, "attention_factor", 1e-6, 1e6, standard, &out->magnitude);
}

/* Reads longrope's divisors for texts within the trained positions. Longer texts have other divisors, which turn earlier tokens otherwise,
 * so that cached keys would be wrong. */
static clf_status read_long(const json_t *json, const char *at, int64_t max_positions, clf_rotary *out)
{
    const json_t *list;
    double factor;
    CLF_TRY(clfi_json_opt_number(json, at, "factor", 1e-3, 1e6, (double)max_positions / (double)out->trained_positions, &factor));
    const double standard = factor > 1 ? sqrt(1 + log(factor) / log((double)out->trained_positions)) : 1;
    CLF_TRY(clfi_json_opt_number(json, at, "attention_factor", 1e-6, 1e6, standard, &out->magnitude));
    CLF_TRY(clfi_json_get_array(json, at, "short_factor", &list));
    return clfi_model_config_divisors(list, at, "short_factor", out);
}

clf_status clfi_model_config_divisors(const json_t *list, const char *at, const char *key, clf_rotary *out)
{
    if (json_array_size(list) < 1 || json_array_size(list) > CLFI_ROTARY_MOST_DIVISORS)
        CLF_FAIL(CLF_FORMAT, "%s: %s has %zu numbers, expected one for each pair, 1 to %d", at, key, json_array_size(list),
                 CLFI_ROTARY_MOST_DIVISORS);
    out->divisor_count = (int32_t)json_array_size(list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const double divisor = json_number_value(json_array_get(list, i));
        if (!(divisor > 0) || !isfinite(divisor))
            CLF_FAIL(CLF_FORMAT, "%s: %s[%zu]: expected a number above 0", at, key, i);
        out->divisors[i] = (float)divisor;
    }
    return CLF_OK;
}

static clf_status read_scaling(const json_t *json, const char *at, const json_t *config, int64_t max_positions, clf_rotary *out)
{
    const char *type;
    CLF_TRY(clfi_json_opt_string(json, at, "type", "default", &type)); /* the key's older name */
    CLF_TRY(clfi_json_opt_string(json, at, "rope_type", type, &type));
    if (strcmp(type, "default") == 0 || strcmp(type, "dynamic") == 0) /* dynamic differs only in texts longer than the positions */
        return CLF_OK;
    if (strcmp(type, "longrope") == 0 || strcmp(type, "su") == 0) { /* its older name */
        CLF_TRY(read_trained(json, at, config, max_positions, out));
        return read_long(json, at, max_positions, out);
    }
    if (strcmp(type, "linear") == 0)
        out->scaling = CLF_ROTARY_LINEAR;
    else if (strcmp(type, "llama3") == 0)
        out->scaling = CLF_ROTARY_LLAMA3;
    else if (strcmp(type, "yarn") == 0)
        out->scaling = CLF_ROTARY_YARN;
    else
        CLF_FAIL(CLF_UNSUPPORTED, "%s: rope_type \"%s\": expected default, dynamic, linear, llama3, longrope or yarn", at, type);
    CLF_TRY(clfi_json_get_number(json, at, "factor", 1, 1e6, &out->factor));
    if (out->scaling == CLF_ROTARY_LINEAR)
        return CLF_OK;
    CLF_TRY(read_trained(json, at, config, max_positions, out));
    if (out->scaling == CLF_ROTARY_YARN)
        return read_yarn(json, at, out);
    CLF_TRY(clfi_json_get_number(json, at, "low_freq_factor", 1e-6, 1e6, &out->low_frequency_factor));
    CLF_TRY(clfi_json_get_number(json, at, "high_freq_factor", 1e-6, 1e6, &out->high_frequency_factor));
    if (out->high_frequency_factor <= out->low_frequency_factor)
        CLF_FAIL(CLF_FORMAT, "%s: high_freq_factor %g is not above low_freq_factor %g", at, out->high_frequency_factor,
                 out->low_frequency_factor);
    return CLF_OK;
}

clf_status clfi_model_config_rope(const json_t *config, const char *kind, const json_t **out, const char **at)
{
    const json_t *scaling, *parameters, *of_kind = NULL;
    CLF_TRY(clfi_json_opt_object(config, where, "rope_scaling", &scaling));
    CLF_TRY(clfi_json_opt_object(config, where, "rope_parameters", &parameters));
    const bool is_older = json_object_size(scaling) > 0;
    if (is_older && kind && json_object_size(parameters) > 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: rope_scaling beside rope_parameters: expected one of them", where);
    *at = is_older ? "config.json: rope_scaling" : "config.json: rope_parameters";
    if (parameters && kind && !is_older)
        CLF_TRY(clfi_json_opt_object(parameters, *at, kind, &of_kind));
    *out = is_older ? scaling : kind ? of_kind : parameters; /* like transformers, which ignores other keys beside kinds of layers */
    return CLF_OK;
}

clf_status clfi_model_config_rotary(const json_t *config, const char *kind, const char *key, double standard, clf_rotary *out)
{
    const json_t *parameters;
    const char *at;
    clf_rotary rotary = {.base = 0};
    int64_t max_positions;
    CLF_TRY(clfi_json_opt_int(config, where, "max_position_embeddings", 1, CLFI_CONFIG_LARGEST, 1, &max_positions));
    CLF_TRY(clfi_json_opt_number(config, where, key, 1, 1e12, standard, &rotary.base));
    CLF_TRY(clfi_model_config_rope(config, kind, &parameters, &at));
    if (parameters) {
        CLF_TRY(clfi_json_opt_number(parameters, at, "rope_theta", 1, 1e12, rotary.base, &rotary.base));
        CLF_TRY(read_scaling(parameters, at, config, max_positions, &rotary));
    }
    *out = rotary;
    return CLF_OK;
}

clf_status clfi_model_config_local_layers(const json_t *config, const clf_local_rule *rule, clf_stack_config *stack)
{
    const json_t *types;
    CLF_TRY(clfi_json_opt_array(config, where, "layer_types", &types));
    if (types && json_array_size(types) != (size_t)stack->layers)
        CLF_FAIL(CLF_FORMAT, "%s: layer_types has %zu entries, expected num_hidden_layers, %lld", where, json_array_size(types),
                 (long long)stack->layers);
    for (int64_t i = 0; i < stack->layers; i++) {
        const char *type = json_string_value(json_array_get(types, (size_t)i));
        bool is_local = i >= rule->first && (rule->period == 0 || i % rule->period != rule->phase);
        if (types) {
            is_local = type && strcmp(type, "sliding_attention") == 0;
            if (!type || (!is_local && strcmp(type, "full_attention") != 0))
                CLF_FAIL(CLF_UNSUPPORTED, "%s: layer_types[%lld]: expected \"full_attention\" or \"sliding_attention\"", where,
                         (long long)i);
        }
        if (is_local)
            clfi_stack_set_local(stack, i);
    }
    return CLF_OK;
}
