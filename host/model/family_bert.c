/* SPDX-License-Identifier: MIT */
/* BERT (Devlin et al. 2018): embeddings of token, position and type, layer norm, post-norm encoder layers. */
#include <string.h>

#include "io/json.h"
#include "model/family.h"

clf_status clfi_bert_read_config(const json_t *json, clf_network_config *out)
{
    static const char where[] = CLFI_MODEL_CONFIG;
    clf_network_config config = clfi_network_config_default();
    static const clf_expected_flag flags[] = {{"is_decoder", false}};
    double eps;
    const char *positions;
    CLF_TRY(clfi_model_config_expect(json, flags, COUNT(flags)));
    CLF_TRY(clfi_model_config_sizes(json, &clfi_hub_size_keys, &config.encoder, &config.source));
    CLF_TRY(clfi_json_opt_int(json, where, "type_vocab_size", 1, CLFI_CONFIG_LARGEST, 2, &config.source.types));
    CLF_TRY(clfi_json_opt_number(json, where, "layer_norm_eps", 0, 1, 1e-12, &eps));
    CLF_TRY(clfi_json_opt_string(json, where, "position_embedding_type", "absolute", &positions));
    if (strcmp(positions, "absolute") != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: position_embedding_type \"%s\": expected \"absolute\"", where, positions);
    config.encoder.norm_eps = (float)eps;
    config.source.positions = CLF_POSITIONS_LEARNED;
    config.source.has_norm = true;
    config.classifier = (clf_classifier_config){.pooling = CLF_POOLING_CLS, .activation = CLF_ACTIVATION_TANH};
    CLF_TRY(clfi_model_config_activation(json, "hidden_act", "gelu", &config.encoder.activation));
    *out = config;
    return CLF_OK;
}

const clf_weight_name clfi_bert_names[] = {
    CLFI_WEIGHT(TOKENS, "embeddings.word_embeddings"),
    CLFI_WEIGHT(POSITIONS, "embeddings.position_embeddings"),
    CLFI_WEIGHT(TYPES, "embeddings.token_type_embeddings"),
    CLFI_WEIGHT(EMBEDDING_NORM, "embeddings.LayerNorm"),
    CLFI_WEIGHT_STORED(EMBEDDING_NORM, "embeddings.LayerNorm", GAMMA),
    CLFI_WEIGHT(QUERY, "encoder.layer.%d.attention.self.query"),
    CLFI_WEIGHT(KEY, "encoder.layer.%d.attention.self.key"),
    CLFI_WEIGHT(VALUE, "encoder.layer.%d.attention.self.value"),
    CLFI_WEIGHT(OUTPUT, "encoder.layer.%d.attention.output.dense"),
    CLFI_WEIGHT(ATTENTION_NORM, "encoder.layer.%d.attention.output.LayerNorm"),
    CLFI_WEIGHT_STORED(ATTENTION_NORM, "encoder.layer.%d.attention.output.LayerNorm", GAMMA),
    CLFI_WEIGHT(FFN_IN, "encoder.layer.%d.intermediate.dense"),
    CLFI_WEIGHT(FFN_OUT, "encoder.layer.%d.output.dense"),
    CLFI_WEIGHT(FFN_NORM, "encoder.layer.%d.output.LayerNorm"),
    CLFI_WEIGHT_STORED(FFN_NORM, "encoder.layer.%d.output.LayerNorm", GAMMA),
    CLFI_WEIGHTS_END,
};

const clf_weight_name clfi_bert_head[] = {
    CLFI_WEIGHT(CLASSIFIER_DENSE, "pooler.dense"),
    CLFI_WEIGHT(CLASSIFIER, "/classifier"),
    CLFI_WEIGHTS_END,
};

static const clf_name_map names = {
    .prefixes = (const char *const[]){"", "bert.", NULL}, .encoder = clfi_bert_names, .head = clfi_bert_head};

const clf_family clfi_family_bert = {.model_type = "bert",
                                     .tasks = CLF_TASK_EMBED,
                                     .pooling = CLF_POOLING_MEAN,
                                     .read_config = clfi_bert_read_config,
                                     .names = &names,
                                     .biases = clfi_biases_everywhere};
