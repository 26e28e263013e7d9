/* SPDX-License-Identifier: MIT */
/* BART (Lewis et al. 2019) and Marian (Junczys-Dowmunt et al. 2018) as transformers stores them: the keys of config.json, names of weights
 * with or without the leading "model.". Both are post-norm without a final norm and differ in embeddings: BART learns positions and
 * normalises, Marian adds sinusoids. */
#include "model/bart.h"

#include <string.h>

#include "io/json.h"
#include "model/model_config.h"
#include "model/transformer_weights.h"

enum { LARGEST = 1 << 24, MOST_LAYERS = 4096 };

static const char where[] = CLFI_MODEL_CONFIG;

/* A size that the decoder must have in common with the encoder. */
static clf_status read_common(const json_t *json, const char *encoder_key, const char *decoder_key, int64_t *out)
{
    int64_t decoder;
    CLF_TRY(clfi_json_get_int(json, where, encoder_key, 1, LARGEST, out));
    CLF_TRY(clfi_json_get_int(json, where, decoder_key, 1, LARGEST, &decoder));
    if (decoder != *out)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %lld: expected %s, %lld", where, decoder_key, (long long)decoder, encoder_key,
                 (long long)*out);
    return CLF_OK;
}

static clf_status read_sizes(const json_t *json, clf_transformer_config *config)
{
    CLF_TRY(clfi_json_get_int(json, where, "d_model", 1, LARGEST, &config->width));
    CLF_TRY(read_common(json, "encoder_ffn_dim", "decoder_ffn_dim", &config->hidden_width));
    CLF_TRY(read_common(json, "encoder_attention_heads", "decoder_attention_heads", &config->heads));
    CLF_TRY(clfi_json_get_int(json, where, "encoder_layers", 1, MOST_LAYERS, &config->encoder_layers));
    CLF_TRY(clfi_json_get_int(json, where, "decoder_layers", 1, MOST_LAYERS, &config->decoder_layers));
    CLF_TRY(clfi_json_get_int(json, where, "max_position_embeddings", 1, LARGEST, &config->max_source));
    config->max_target = config->max_source;
    if (config->width % config->heads != 0)
        CLF_FAIL(CLF_FORMAT, "%s: d_model %lld is not a multiple of encoder_attention_heads %lld", where, (long long)config->width,
                 (long long)config->heads);
    return CLF_OK;
}

/* BART has one vocabulary; Marian may have one for each side. */
static clf_status read_vocabularies(const json_t *json, bool is_marian, clf_transformer_config *config)
{
    bool is_shared = true;
    CLF_TRY(clfi_json_get_int(json, where, "vocab_size", 1, INT32_MAX, &config->source_vocabulary));
    config->target_vocabulary = config->source_vocabulary;
    if (!is_marian)
        return CLF_OK;
    CLF_TRY(clfi_json_opt_bool(json, where, "share_encoder_decoder_embeddings", true, &is_shared));
    CLF_TRY(clfi_json_opt_int(json, where, "decoder_vocab_size", 1, INT32_MAX, config->source_vocabulary, &config->target_vocabulary));
    if (is_shared && config->target_vocabulary != config->source_vocabulary)
        CLF_FAIL(CLF_FORMAT, "%s: decoder_vocab_size is %lld: expected vocab_size, %lld, since share_encoder_decoder_embeddings is true",
                 where, (long long)config->target_vocabulary, (long long)config->source_vocabulary);
    return CLF_OK;
}

/* Keys of older files that describe what the network always is, or another network. */
static clf_status check_kind(const json_t *json, bool is_marian)
{
    const struct {
        const char *key;
        bool expected;
    } rows[] = {{"is_encoder_decoder", true},
                {"is_decoder", false},
                {"normalize_before", false},
                {"add_final_layer_norm", false},
                {"add_bias_logits", false},
                {"normalize_embedding", !is_marian},
                {"static_position_embeddings", is_marian}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool value;
        CLF_TRY(clfi_json_opt_bool(json, where, rows[i].key, rows[i].expected, &value));
        if (value != rows[i].expected)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %s: expected %s for model_type \"%s\"", where, rows[i].key, value ? "true" : "false",
                     value ? "false" : "true", is_marian ? "marian" : "bart");
    }
    return CLF_OK;
}

clf_status clfi_bart_read_config(const json_t *json, clf_transformer_config *out)
{
    clf_transformer_config config = CLF_TRANSFORMER_CONFIG_INIT;
    const char *type;
    bool is_scaled, is_tied;
    CLF_TRY(clfi_json_get_string(json, where, "model_type", &type));
    const bool is_marian = strcmp(type, "marian") == 0;
    if (!is_marian && strcmp(type, "bart") != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: model_type \"%s\": expected \"bart\" or \"marian\"", where, type);
    CLF_TRY(check_kind(json, is_marian));
    CLF_TRY(read_sizes(json, &config));
    CLF_TRY(read_vocabularies(json, is_marian, &config));
    CLF_TRY(clfi_model_config_activation(json, "activation_function", "gelu", &config.activation));
    CLF_TRY(clfi_json_opt_bool(json, where, "scale_embedding", false, &is_scaled));
    CLF_TRY(clfi_json_opt_bool(json, where, "tie_word_embeddings", true, &is_tied));
    config.norm_first = 0;
    config.has_final_norm = 0;
    config.positions = is_marian ? CLF_POSITIONS_SINUSOIDAL_HALVES : CLF_POSITIONS_LEARNED;
    config.has_embedding_norm = !is_marian;
    config.embedding_scale = is_scaled ? 0.0f : 1.0f;
    config.is_generator_tied = is_tied;
    *out = config;
    return CLF_OK;
}

clf_status clfi_bart_open(clf_context *context, const char *directory, const json_t *json, clf_transformer **out, clf_weights **weights)
{
    static const char *const prefixes[] = {"", NULL};
    clf_transformer_config config;
    clf_weights *opened;
    CLF_TRY(clfi_bart_read_config(json, &config));
    CLF_TRY(clfi_weights_open(context, directory, prefixes, NULL, &opened));
    const bool is_base = clfi_weights_find(opened, "encoder.layers.0.fc1.weight") != NULL;
    const clf_name_map *names = is_base ? clfi_name_map_huggingface_base() : clfi_name_map(CLF_NAMES_HUGGINGFACE);
    const clf_weight_source source = clfi_weights_of_checkpoint(opened);
    const clf_status st = clfi_transformer_build(context, &config, names, &source, out);
    if (st == CLF_OK)
        *weights = opened;
    else
        clfi_weights_close(opened);
    return st;
}
