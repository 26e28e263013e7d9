/* SPDX-License-Identifier: MIT */
/* RoBERTa (Liu et al. 2019) and those built like it: BERT whose positions count from the one after the padding token's id. */
#include "io/json.h"
#include "model/family.h"

static const char where[] = CLFI_MODEL_CONFIG;

clf_status clfi_roberta_set_padding(int64_t padding, clf_network_config *config)
{
    clf_embedding_config *source = &config->source;
    source->skips_padding = true;
    source->padding = (int32_t)padding;
    source->position_offset = padding + 1;
    source->max_positions -= source->position_offset;
    if (source->max_positions < 1)
        CLF_FAIL(CLF_FORMAT, "%s: max_position_embeddings is %lld: expected more than %lld, since positions begin after pad_token_id",
                 where, (long long)(source->max_positions + source->position_offset), (long long)source->position_offset);
    return CLF_OK;
}

static clf_status read_config(const json_t *json, clf_network_config *out)
{
    clf_network_config config;
    int64_t padding;
    CLF_TRY(clfi_bert_read_config(json, &config));
    CLF_TRY(clfi_json_opt_int(json, where, "pad_token_id", 0, CLFI_CONFIG_LARGEST, 1, &padding));
    CLF_TRY(clfi_roberta_set_padding(padding, &config));
    *out = config;
    return CLF_OK;
}

const clf_weight_name clfi_roberta_head[] = {
    CLFI_WEIGHT(CLASSIFIER_DENSE, "/classifier.dense"),
    CLFI_WEIGHT(CLASSIFIER, "/classifier.out_proj"),
    CLFI_WEIGHTS_END,
};

static const clf_name_map names = {
    .prefixes = (const char *const[]){"", "roberta.", NULL}, .encoder = clfi_bert_names, .head = clfi_roberta_head};

const clf_family clfi_family_roberta = {
    .model_type = "roberta", .tasks = CLF_TASK_EMBED, .read_config = read_config, .names = &names, .biases = clfi_biases_everywhere};
const clf_family clfi_family_xlm_roberta = {
    .model_type = "xlm-roberta", .tasks = CLF_TASK_EMBED, .read_config = read_config, .names = &names, .biases = clfi_biases_everywhere};
const clf_family clfi_family_camembert = {
    .model_type = "camembert", .tasks = CLF_TASK_EMBED, .read_config = read_config, .names = &names, .biases = clfi_biases_everywhere};
