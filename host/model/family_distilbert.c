/* SPDX-License-Identifier: MIT */
/* DistilBERT (Sanh et al. 2019): BERT without token types and pooler, with keys and names of its own. */
#include "io/json.h"
#include "model/family.h"

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    static const clf_size_keys keys = {"dim", "hidden_dim", "n_heads", "n_layers", "vocab_size", "max_position_embeddings"};
    clf_network_config config = clfi_network_config_default();
    CLF_TRY(clfi_model_config_sizes(json, &keys, &config.encoder, &config.source));
    CLF_TRY(clfi_model_config_activation(json, "activation", "gelu", &config.encoder.activation));
    config.encoder.norm_eps = 1e-12f;
    config.source.positions = CLF_POSITIONS_LEARNED; /* sinusoids too are stored as a table */
    config.source.has_norm = true;
    config.classifier = (clf_classifier_config){.pooling = CLF_POOLING_CLS, .activation = CLF_ACTIVATION_RELU};
    *out = config;
    return CLF_OK;
}

static const clf_weight_name encoder[] = {
    CLFI_WEIGHT(TOKENS, "embeddings.word_embeddings"),
    CLFI_WEIGHT(POSITIONS, "embeddings.position_embeddings"),
    CLFI_WEIGHT(EMBEDDING_NORM, "embeddings.LayerNorm"),
    CLFI_WEIGHT(QUERY, "transformer.layer.%d.attention.q_lin"),
    CLFI_WEIGHT(KEY, "transformer.layer.%d.attention.k_lin"),
    CLFI_WEIGHT(VALUE, "transformer.layer.%d.attention.v_lin"),
    CLFI_WEIGHT(OUTPUT, "transformer.layer.%d.attention.out_lin"),
    CLFI_WEIGHT(ATTENTION_NORM, "transformer.layer.%d.sa_layer_norm"),
    CLFI_WEIGHT(FFN_IN, "transformer.layer.%d.ffn.lin1"),
    CLFI_WEIGHT(FFN_OUT, "transformer.layer.%d.ffn.lin2"),
    CLFI_WEIGHT(FFN_NORM, "transformer.layer.%d.output_layer_norm"),
    CLFI_WEIGHTS_END,
};

static const clf_weight_name head[] = {
    CLFI_WEIGHT(CLASSIFIER_DENSE, "/pre_classifier"),
    CLFI_WEIGHT(CLASSIFIER, "/classifier"),
    CLFI_WEIGHTS_END,
};

static const clf_name_map names = {.prefixes = (const char *const[]){"", "distilbert.", NULL}, .encoder = encoder, .head = head};

static const char *const aliases[][2] = {
    {"hidden_size", "dim"}, {"num_attention_heads", "n_heads"}, {"num_hidden_layers", "n_layers"}, {NULL, NULL}};

const clf_family clfi_family_distilbert = {.model_type = "distilbert",
                                           .tasks = CLF_TASK_EMBED,
                                           .pooling = CLF_POOLING_MEAN,
                                           .read_config = read_config,
                                           .names = &names,
                                           .biases = clfi_biases_everywhere,
                                           .aliases = aliases};
