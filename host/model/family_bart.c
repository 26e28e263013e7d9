/* SPDX-License-Identifier: MIT */
/* BART (Lewis et al. 2019) and Marian (Junczys-Dowmunt et al. 2018) as transformers stores them. Both are post-norm without a final norm
 * and differ in embeddings: BART learns positions and normalises, Marian adds sinusoids. */
#include <math.h>

#include "io/json.h"
#include "model/family.h"
#include "model/name_maps.h"

static const char where[] = CLFI_MODEL_CONFIG;

/* The decoder has layers, heads and a feed-forward width of its own. */
static clf_status read_sizes(const json_t *json, clf_network_config *config)
{
    static const clf_size_keys encoder = {"d_model",        "encoder_ffn_dim", "encoder_attention_heads",
                                          "encoder_layers", "vocab_size",      "max_position_embeddings"},
                               decoder = {"d_model", "decoder_ffn_dim", "decoder_attention_heads", "decoder_layers", NULL, NULL};
    CLF_TRY(clfi_model_config_sizes(json, &encoder, &config->encoder, &config->source));
    config->decoder = config->encoder;
    CLF_TRY(clfi_model_config_sizes(json, &decoder, &config->decoder, &config->target));
    config->decoder.attention.is_causal = config->decoder.has_source = true;
    return CLF_OK;
}

/* Marian may have a vocabulary for each side. */
static clf_status read_target_vocabulary(const json_t *json, int64_t source, int64_t *target)
{
    bool is_shared;
    CLF_TRY(clfi_json_opt_bool(json, where, "share_encoder_decoder_embeddings", true, &is_shared));
    CLF_TRY(clfi_json_opt_int(json, where, "decoder_vocab_size", 1, INT32_MAX, source, target));
    if (is_shared && *target != source)
        CLF_FAIL(CLF_FORMAT, "%s: decoder_vocab_size is %lld: expected vocab_size, %lld, since share_encoder_decoder_embeddings is true",
                 where, (long long)*target, (long long)source);
    return CLF_OK;
}

static clf_status read_config(const json_t *json, bool is_marian, clf_network_config *out)
{
    /* Keys of older files that describe what the network always is, or another network. */
    const clf_expected_flag flags[] = {{"is_encoder_decoder", true},
                                       {"is_decoder", false},
                                       {"normalize_before", false},
                                       {"add_final_layer_norm", false},
                                       {"add_bias_logits", false},
                                       {"normalize_embedding", !is_marian},
                                       {"static_position_embeddings", is_marian}};
    clf_network_config config = clfi_network_config_default();
    bool is_scaled;
    if (json_is_null(json_object_get(json, "is_encoder_decoder"))) /* false for transformers, which then writes other texts */
        CLF_FAIL(CLF_UNSUPPORTED, "%s: is_encoder_decoder is null: expected true", where);
    CLF_TRY(clfi_model_config_expect(json, flags, COUNT(flags)));
    CLF_TRY(clfi_model_config_one_way(json));
    CLF_TRY(read_sizes(json, &config));
    CLF_TRY(clfi_model_config_activation(json, "activation_function", "gelu", &config.encoder.activation));
    config.decoder.activation = config.encoder.activation;
    CLF_TRY(clfi_json_opt_bool(json, where, "scale_embedding", false, &is_scaled));
    CLF_TRY(clfi_json_opt_bool(json, where, "tie_word_embeddings", true, &config.is_generator_tied));
    config.source.positions = is_marian ? CLF_POSITIONS_SINUSOIDAL_HALVES : CLF_POSITIONS_LEARNED;
    config.source.position_offset = is_marian ? 0 : CLFI_BART_POSITION_OFFSET;
    config.source.has_norm = !is_marian;
    config.source.scale = is_scaled ? (float)sqrt((double)config.encoder.width) : 1.0f;
    CLF_TRY(clfi_model_config_no_windows(json, config.source.max_positions));
    config.target = config.source;
    if (is_marian)
        CLF_TRY(read_target_vocabulary(json, config.source.vocabulary, &config.target.vocabulary));
    config.has_generator = true;
    *out = config;
    return CLF_OK;
}

static clf_status read_bart(const json_t *json, clf_network_config *out)
{
    return read_config(json, false, out);
}

static clf_status read_marian(const json_t *json, clf_network_config *out)
{
    return read_config(json, true, out);
}

static const char *const aliases[][2] = {
    {"num_attention_heads", "encoder_attention_heads"}, {"hidden_size", "d_model"}, {"num_hidden_layers", "encoder_layers"}, {NULL, NULL}};

const clf_family clfi_family_bart = {.model_type = "bart",
                                     .tasks = CLF_TASK_TRANSFORM | CLF_TASK_GENERATE,
                                     .read_config = read_bart,
                                     .names = &clfi_names_bart,
                                     .biases = clfi_biases_everywhere,
                                     .aliases = aliases};
const clf_family clfi_family_marian = {.model_type = "marian",
                                       .tasks = CLF_TASK_TRANSFORM | CLF_TASK_GENERATE,
                                       .read_config = read_marian,
                                       .names = &clfi_names_bart,
                                       .biases = clfi_biases_everywhere,
                                       .aliases = aliases};
