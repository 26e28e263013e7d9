/* SPDX-License-Identifier: MIT */
/* MPNet (Song et al. 2020): BERT without token types, with a bias of the scores by distance that all layers share. */
#include "io/json.h"
#include "model/family.h"

/* Values of the published networks; transformers uses them whatever config.json says. */
enum { MAX_DISTANCE = 128, BUCKETS = 32, PADDING = 1 };

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    clf_network_config config;
    CLF_TRY(clfi_bert_read_config(json, &config));
    CLF_TRY(clfi_roberta_set_padding(PADDING, &config));
    CLF_TRY(clfi_json_opt_int(json, CLFI_MODEL_CONFIG, "relative_attention_num_buckets", BUCKETS, BUCKETS, BUCKETS,
                              &config.encoder.buckets.count));
    config.encoder.buckets.max_distance = MAX_DISTANCE;
    config.source.types = 0;
    *out = config;
    return CLF_OK;
}

static const clf_weight_name encoder[] = {
    CLFI_WEIGHT(TOKENS, "embeddings.word_embeddings"),
    CLFI_WEIGHT(POSITIONS, "embeddings.position_embeddings"),
    CLFI_WEIGHT(EMBEDDING_NORM, "embeddings.LayerNorm"),
    CLFI_WEIGHT(DISTANCE_BIAS, "encoder.relative_attention_bias"),
    CLFI_WEIGHT(QUERY, "encoder.layer.%d.attention.attn.q"),
    CLFI_WEIGHT(KEY, "encoder.layer.%d.attention.attn.k"),
    CLFI_WEIGHT(VALUE, "encoder.layer.%d.attention.attn.v"),
    CLFI_WEIGHT(OUTPUT, "encoder.layer.%d.attention.attn.o"),
    CLFI_WEIGHT(ATTENTION_NORM, "encoder.layer.%d.attention.LayerNorm"),
    CLFI_WEIGHT(FFN_IN, "encoder.layer.%d.intermediate.dense"),
    CLFI_WEIGHT(FFN_OUT, "encoder.layer.%d.output.dense"),
    CLFI_WEIGHT(FFN_NORM, "encoder.layer.%d.output.LayerNorm"),
    CLFI_WEIGHTS_END,
};

static const clf_name_map names = {.prefixes = (const char *const[]){"", "mpnet.", NULL}, .encoder = encoder, .head = clfi_roberta_head};

const clf_family clfi_family_mpnet = {
    .model_type = "mpnet", .tasks = CLF_TASK_EMBED, .read_config = read_config, .names = &names, .biases = clfi_biases_everywhere};
