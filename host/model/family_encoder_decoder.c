/* SPDX-License-Identifier: MIT */
/* Encoder-decoders in this project's own keys, as host/model/g2p/config.json has them, with weights in labml's names. */
#include <math.h>
#include <string.h>

#include "io/json.h"
#include "model/family.h"
#include "model/name_maps.h"

static const char where[] = CLFI_MODEL_CONFIG;

/* Reads a string that is one of the names. *out: its index. */
static clf_status read_choice(const json_t *config, const char *key, const char *const *names, size_t count, const char *standard, int *out)
{
    const char *text;
    CLF_TRY(clfi_json_opt_string(config, where, key, standard, &text));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = (int)i;
            return CLF_OK;
        }
    }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: %s \"%s\": expected \"%s\" or one of %zu more", where, key, text, names[0], count - 1);
}

static clf_status read_sizes(const json_t *json, clf_network_config *config)
{
    static const clf_size_keys keys = {"d_model", "d_ff", "heads", "encoder_layers", NULL, "max_source_length"};
    double eps;
    CLF_TRY(clfi_model_config_sizes(json, &keys, &config->encoder, &config->source));
    CLF_TRY(clfi_json_get_int(json, where, "decoder_layers", 1, CLFI_CONFIG_MOST_LAYERS, &config->decoder.layers));
    CLF_TRY(clfi_json_get_int(json, where, "max_target_length", 2, CLFI_CONFIG_LARGEST, &config->target.max_positions));
    CLF_TRY(clfi_json_opt_number(json, where, "layer_norm_eps", 0, 1, 1e-5, &eps));
    config->encoder.norm_eps = (float)eps;
    return CLF_OK;
}

static clf_status read_kinds(const json_t *json, clf_network_config *config)
{
    static const char *const norms[] = {"pre", "post"}, *const positions[] = {"sinusoidal", "learned", "none", "sinusoidal-halves"};
    const char *activation;
    int norm = 0, position = 0;
    CLF_TRY(clfi_json_opt_string(json, where, "activation", "relu", &activation));
    if (clf_activation_parse(activation, &config->encoder.activation) != CLF_OK)
        return clfi_fail_prefix(CLF_UNSUPPORTED, "%s: activation", where);
    CLF_TRY(read_choice(json, "norm", norms, COUNT(norms), "pre", &norm));
    CLF_TRY(read_choice(json, "positions", positions, COUNT(positions), "sinusoidal", &position));
    CLF_TRY(clfi_json_opt_bool(json, where, "gated", false, &config->encoder.is_gated));
    CLF_TRY(clfi_json_opt_bool(json, where, "final_norm", norm == 0, &config->encoder.has_final_norm));
    config->encoder.place = norm == 0 ? CLF_NORM_PRE : CLF_NORM_POST;
    config->source.positions = config->target.positions = (clf_positions)position;
    return CLF_OK;
}

/* The vocabularies are lists in the file. */
static clf_status read_vocabulary(const json_t *json, const char *key, int64_t *out)
{
    const json_t *array;
    CLF_TRY(clfi_json_get_array(json, where, key, &array));
    if (json_array_size(array) < 1 || json_array_size(array) > CLFI_CONFIG_LARGEST)
        CLF_FAIL(CLF_FORMAT, "%s: %s: %zu tokens, expected 1 to %d", where, key, json_array_size(array), CLFI_CONFIG_LARGEST);
    *out = (int64_t)json_array_size(array);
    return CLF_OK;
}

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    clf_network_config config = clfi_network_config_default();
    CLF_TRY(read_sizes(json, &config));
    CLF_TRY(read_kinds(json, &config));
    const int64_t decoder_layers = config.decoder.layers;
    config.decoder = config.encoder;
    config.decoder.layers = decoder_layers;
    config.decoder.attention.is_causal = config.decoder.has_source = true;
    config.source.scale = config.target.scale = (float)sqrt((double)config.encoder.width);
    config.has_generator = true;
    CLF_TRY(read_vocabulary(json, "source_tokens", &config.source.vocabulary));
    CLF_TRY(read_vocabulary(json, "target_tokens", &config.target.vocabulary));
    *out = config;
    return CLF_OK;
}

const clf_family clfi_family_encoder_decoder = {.model_type = "encoder-decoder",
                                                .tasks = CLF_TASK_TRANSFORM | CLF_TASK_PRONOUNCE,
                                                .read_config = read_config,
                                                .names = &clfi_names_labml};
