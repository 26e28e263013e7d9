/* SPDX-License-Identifier: MIT */
/* Compares the biases that a checkpoint stores with the rules of its family. */
#include "model/stored_biases.h"

#include <string.h>

#include "io/checkpoint_gguf.h"
#include "io/json.h"
#include "model/weight_lookup.h"

const clf_bias_rule clfi_biases_everywhere[] = {{CLFI_ROLE(GENERATOR), NULL, false}, {CLFI_EVERY_ROLE, NULL, true}};
const clf_bias_rule clfi_biases_nowhere[] = {{CLFI_EVERY_ROLE, NULL, false}};
const clf_bias_rule clfi_biases_of_attention[] = {{CLFI_ROLES_ATTENTION, "attention_bias", false}, {CLFI_EVERY_ROLE, NULL, false}};

static const clf_bias_rule *rule_of(const clf_bias_rule *rules, uint64_t role)
{
    while (!(rules->roles & role))
        rules++;
    return rules;
}

static clf_status read(const json_t *config, const clf_bias_rule *rule, bool *out)
{
    *out = rule->is_standard;
    return rule->key ? clfi_json_opt_bool(config, "config.json", rule->key, rule->is_standard, out) : CLF_OK;
}

clf_status clfi_bias_roles(const json_t *config, const clf_bias_rule *rules, uint64_t *out)
{
    uint64_t roles = 0, decided = 0;
    for (; rules && decided != CLFI_EVERY_ROLE; decided |= rules->roles, rules++) {
        bool has;
        CLF_TRY(read(config, rules, &has));
        roles |= has ? rules->roles & ~decided : 0;
    }
    *out = roles;
    return CLF_OK;
}

typedef struct stored {
    clf_checkpoint *checkpoint;
    const clf_bias_rule *rules;
    uint64_t promised;
    const char *prefix, *model_type;
    bool is_gguf;
} stored;

static bool is_there(void *checkpoint, const char *name)
{
    clf_checkpoint_tensor tensor;
    return clfi_checkpoint_find(checkpoint, name, &tensor);
}

static clf_status check_row(const stored *s, const clf_weight_name *row, int64_t layer)
{
    const uint64_t role = UINT64_C(1) << (row->role == CLF_WEIGHT_FUSED ? row->parts[0] : row->role);
    const clf_bias_rule *rule = rule_of(s->rules, role);
    const bool is_promised = (s->promised & role) != 0;
    char weight[CLFI_WEIGHT_NAME_BYTES], bias[CLFI_WEIGHT_NAME_BYTES];
    clf_checkpoint_tensor tensor;
    clfi_weight_full_name(s->prefix, row, layer, "weight", weight);
    clfi_weight_full_name(s->prefix, row, layer, "bias", bias);
    const bool has = clfi_checkpoint_find(s->checkpoint, bias, &tensor);
    if (has == is_promised || (s->is_gguf && (has || rule->key)) || (!has && !clfi_checkpoint_find(s->checkpoint, weight, &tensor)))
        return CLF_OK;
    const char *file = clfi_checkpoint_file_path(s->checkpoint, tensor.file);
    if (rule->key)
        CLF_FAIL(has ? CLF_UNSUPPORTED : CLF_FORMAT, "%s: %s tensor %s, and config.json's %s is %s", file, has ? "found" : "no", bias,
                 rule->key, has ? "false" : "true");
    if (!has)
        CLF_FAIL(CLF_FORMAT, "%s: no tensor %s: expected this bias for model_type \"%s\"", file, bias, s->model_type);
    CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: a network of model_type \"%s\" has no such bias", file, bias, s->model_type);
}

/* Tables (embeddings and the like) have no biases. GENERATOR_BIAS is a bias itself. */
static bool can_have_bias(const clf_weight_name *row)
{
    const uint64_t tables = CLFI_ROLE(TOKENS) | CLFI_ROLE(POSITIONS) | CLFI_ROLE(TYPES) | CLFI_ROLE(DISTANCE_BIAS) | CLFI_ROLE(SHARED) |
                            CLFI_ROLE(GENERATOR_BIAS);
    return !(tables >> row->role & 1);
}

static clf_status check_rows(const stored *s, const clf_weight_name *rows, int64_t layers)
{
    for (; rows && rows->role != CLF_WEIGHT_END; rows++)
        for (int64_t i = 0; can_have_bias(rows) && i < (strstr(rows->pattern, "%d") ? layers : layers > 0); i++)
            CLF_TRY(check_row(s, rows, i));
    return CLF_OK;
}

clf_status clfi_biases_check(clf_checkpoint *checkpoint, const clf_name_map *names, const clf_bias_rule *rules,
                             const clf_network_config *config)
{
    const clf_weight_lookup lookup = {is_there, checkpoint, ""};
    stored s = {.checkpoint = checkpoint,
                .rules = rules,
                .model_type = json_string_value(json_object_get(clfi_checkpoint_config(checkpoint), "model_type")),
                .prefix = clfi_weight_prefix(&lookup, names),
                .is_gguf = strcmp(clfi_checkpoint_form(checkpoint), CLFI_FORM_GGUF) == 0};
    if (!rules)
        return CLF_OK;
    CLF_TRY(clfi_bias_roles(clfi_checkpoint_config(checkpoint), rules, &s.promised));
    CLF_TRY(check_rows(&s, names->encoder, config->encoder.layers));
    CLF_TRY(check_rows(&s, names->decoder, config->decoder.layers));
    return check_rows(&s, config->has_generator || config->classifier.labels > 0 ? names->head : NULL, 1);
}
