/* SPDX-License-Identifier: MIT */
/* Configurations of Gemma, Gemma 2 and Gemma 3 (Gemma Team 2024, 2025). They are Llama with embeddings scaled by sqrt(C), and their
 * checkpoints store norm gains minus 1. Gemma 2 and 3 also have a norm after each block. Most layers use a sliding window, but every
 * second one (Gemma 2) or sixth one (Gemma 3) attends to all tokens. Gemma 2 has soft caps. Gemma 3 has norms of queries and keys, and a
 * rotary base of its own in layers with windows. */
#include <math.h>
#include <string.h>

#include "io/json.h"
#include "model/family.h"

static const char where[] = CLFI_MODEL_CONFIG;

static clf_status read_gemma(const json_t *json, double rope_theta, const char *activation_key, clf_network_config *out)
{
    const clf_decoder_defaults defaults = {
        .norm_eps = 1e-6, .rope_theta = rope_theta, .is_tied = true, .activation = "gelu_pytorch_tanh", .activation_key = activation_key};
    bool holds_one; /* true for GGUF, which stores 1 + gamma */
    CLF_TRY(clfi_decoder_read_config(json, &defaults, out));
    CLF_TRY(clfi_json_opt_bool(json, where, "norms_hold_one", false, &holds_one));
    out->decoder.norm = holds_one ? CLF_NORM_RMS : CLF_NORM_RMS_PLUS_ONE;
    out->target.scale = (float)sqrt((double)out->decoder.width);
    return CLF_OK;
}

/* Gemma and Gemma 2 with this flag set are refused. */
static const clf_expected_flag is_one_way[] = {{"use_bidirectional_attention", false}};

/* Reads the first Gemma's activation. In hidden_act "gelu" means the form with tanh, as in transformers 5. Earlier versions follow
 * hidden_activation, so it must name the same function. */
static clf_status read_first_activation(const json_t *json, clf_activation *out)
{
    static const char standard[] = "gelu_pytorch_tanh";
    clf_activation other;
    const char *name;
    CLF_TRY(clfi_json_opt_string(json, where, "hidden_act", standard, &name));
    if (strcmp(name, "gelu") == 0)
        name = standard;
    CLF_TRY(clfi_model_activation_find("hidden_act", name, out));
    CLF_TRY(clfi_model_config_activation(json, "hidden_activation", name, &other));
    if (other != *out)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: hidden_activation: expected the function of hidden_act, \"%s\", found \"%s\"", where, name,
                 json_string_value(json_object_get(json, "hidden_activation")));
    return CLF_OK;
}

static clf_status read_first(const json_t *json, clf_network_config *out)
{
    CLF_TRY(clfi_model_config_expect(json, is_one_way, COUNT(is_one_way)));
    CLF_TRY(read_gemma(json, 10000, "hidden_act", out));
    CLF_TRY(read_first_activation(json, &out->decoder.activation));
    return clfi_model_config_no_windows(json, out->target.max_positions);
}

/* Reads a soft cap. *out: 0 (none) if the key is null, `standard` if it is absent. */
static clf_status read_soft_cap(const json_t *json, const char *key, double standard, float *out)
{
    double cap;
    CLF_TRY(clfi_json_opt_number(json, where, key, 1e-9, 1e9, json_object_get(json, key) ? 0 : standard, &cap));
    *out = (float)cap;
    return CLF_OK;
}

/* Reads what Gemma 2 and Gemma 3 have in common. period: every period-th layer has no window. */
static clf_status read_later(const json_t *json, double rope_theta, int64_t period, clf_network_config *out)
{
    double scalar;
    CLF_TRY(read_gemma(json, rope_theta, "hidden_activation", out));
    CLF_TRY(clfi_json_opt_number(json, where, "query_pre_attn_scalar", 1e-6, 1e9, 256, &scalar));
    out->decoder.attention.scale = (float)(1 / sqrt(scalar));
    out->decoder.place = CLF_NORM_BOTH;
    return clfi_decoder_read_windows(json, CLFI_WINDOW, &(clf_local_rule){.period = period, .phase = period - 1}, out);
}

static clf_status read_second(const json_t *json, clf_network_config *out)
{
    CLF_TRY(clfi_model_config_expect(json, is_one_way, COUNT(is_one_way)));
    CLF_TRY(read_later(json, 10000, 2, out));
    clf_attention_shape *const shapes[] = {&out->decoder.attention, &out->decoder.local};
    for (size_t i = 0; i < COUNT(shapes); i++)
        CLF_TRY(read_soft_cap(json, "attn_logit_softcapping", 50, &shapes[i]->soft_cap));
    return read_soft_cap(json, "final_logit_softcapping", 30, &out->logit_soft_cap);
}

static clf_status read_local_base(const json_t *json, clf_rotary *out)
{
    *out = (clf_rotary){.base = 0};
    return clfi_json_opt_number(json, where, "rope_local_base_freq", 1, 1e12, 10000, &out->base);
}

static clf_status read_third(const json_t *json, clf_network_config *out)
{
    const json_t *parameters, *local = NULL;
    int64_t period;
    bool sees_later; /* tokens also attend to later ones, as in EmbeddingGemma */
    CLF_TRY(clfi_json_opt_int(json, where, "sliding_window_pattern", 1, CLFI_CONFIG_MOST_LAYERS, 6, &period));
    CLF_TRY(read_later(json, 1e6, period, out));
    CLF_TRY(clfi_json_opt_bool(json, where, "use_bidirectional_attention", false, &sees_later));
    CLF_TRY(read_soft_cap(json, "final_logit_softcapping", 0, &out->logit_soft_cap));
    out->decoder.has_query_key_norm = true;
    CLF_TRY(clfi_json_opt_object(json, where, "rope_parameters", &parameters));
    if (parameters)
        CLF_TRY(clfi_json_opt_object(parameters, "config.json: rope_parameters", "sliding_attention", &local));
    clf_attention_shape *shapes[] = {&out->decoder.attention, &out->decoder.local};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const int64_t dims = shapes[i]->rotary.dims;
        if (shapes[i]->window == 0)
            CLF_TRY(clfi_model_config_rotary(json, "full_attention", "rope_theta", 1e6, &shapes[i]->rotary));
        else if (local)
            CLF_TRY(clfi_model_config_rotary(json, "sliding_attention", "rope_local_base_freq", 10000, &shapes[i]->rotary));
        else
            CLF_TRY(read_local_base(json, &shapes[i]->rotary));
        shapes[i]->rotary.dims = dims;
        if (sees_later) { /* sliding_window counts both sides */
            shapes[i]->is_causal = false;
            shapes[i]->window = shapes[i]->window > 0 ? shapes[i]->window / 2 + 1 : 0;
        }
    }
    return CLF_OK;
}

const clf_family clfi_family_gemma = {.model_type = "gemma",
                                      .tasks = CLF_TASK_GENERATE,
                                      .read_config = read_first,
                                      .names = &clfi_names_llama,
                                      .biases = clfi_biases_of_attention};
const clf_family clfi_family_gemma2 = {.model_type = "gemma2",
                                       .tasks = CLF_TASK_GENERATE,
                                       .read_config = read_second,
                                       .names = &clfi_names_gemma2,
                                       .biases = clfi_biases_of_attention};
const clf_family clfi_family_gemma3 = {.model_type = "gemma3_text",
                                       .tasks = CLF_TASK_GENERATE,
                                       .read_config = read_third,
                                       .names = &clfi_names_gemma2,
                                       .biases = clfi_biases_of_attention};
