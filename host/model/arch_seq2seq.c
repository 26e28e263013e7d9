/* SPDX-License-Identifier: MIT */
/* Encoder-decoder models: the keys of config.json, vocabularies, weights in labml's names. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"
#include "model/built_in.h"
#include "model/model_config.h"
#include "model/seq2seq.h"
#include "model/transformer_weights.h"

enum { LARGEST = 1 << 24, MOST_TOKENS = 1 << 24 };

static const char where[] = CLFI_MODEL_CONFIG;

/* A string that is one of the names; its index. */
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

static clf_status read_sizes(const json_t *json, clf_transformer_config *config)
{
    double eps;
    CLF_TRY(clfi_json_get_int(json, where, "d_model", 1, LARGEST, &config->width));
    CLF_TRY(clfi_json_get_int(json, where, "d_ff", 1, LARGEST, &config->hidden_width));
    CLF_TRY(clfi_json_get_int(json, where, "heads", 1, LARGEST, &config->heads));
    CLF_TRY(clfi_json_get_int(json, where, "encoder_layers", 1, 4096, &config->encoder_layers));
    CLF_TRY(clfi_json_get_int(json, where, "decoder_layers", 1, 4096, &config->decoder_layers));
    CLF_TRY(clfi_json_get_int(json, where, "max_source_length", 1, LARGEST, &config->max_source));
    CLF_TRY(clfi_json_get_int(json, where, "max_target_length", 2, LARGEST, &config->max_target));
    CLF_TRY(clfi_json_opt_number(json, where, "layer_norm_eps", 0, 1, 1e-5, &eps));
    config->norm_eps = (float)eps;
    return CLF_OK;
}

static clf_status read_kinds(const json_t *json, clf_transformer_config *config)
{
    static const char *const norms[] = {"pre", "post"}, *const positions[] = {"sinusoidal", "learned", "none", "sinusoidal-halves"};
    const char *activation;
    int norm = 0, position = 0;
    bool is_gated, has_final_norm;
    CLF_TRY(clfi_json_opt_string(json, where, "activation", "relu", &activation));
    if (clf_activation_parse(activation, &config->activation) != CLF_OK)
        return clfi_fail_prefix(CLF_UNSUPPORTED, "%s: activation", where);
    CLF_TRY(read_choice(json, "norm", norms, COUNT(norms), "pre", &norm));
    CLF_TRY(read_choice(json, "positions", positions, COUNT(positions), "sinusoidal", &position));
    CLF_TRY(clfi_json_opt_bool(json, where, "gated", false, &is_gated));
    CLF_TRY(clfi_json_opt_bool(json, where, "final_norm", norm == 0, &has_final_norm));
    config->norm_first = norm == 0;
    config->positions = (clf_positions)position;
    config->is_gated = is_gated;
    config->has_final_norm = has_final_norm;
    config->has_generator = 1;
    return CLF_OK;
}

static clf_status read_tokens(const json_t *json, const char *key, char ***out, int32_t *out_count)
{
    const json_t *array;
    char **tokens;
    CLF_TRY(clfi_json_get_array(json, where, key, &array));
    const size_t count = json_array_size(array);
    if (count < 1 || count > MOST_TOKENS)
        CLF_FAIL(CLF_FORMAT, "%s: %s: %zu tokens, expected 1 to %d", where, key, count, MOST_TOKENS);
    CLF_TRY(clfi_alloc(count, sizeof *tokens, key, &tokens));
    *out = tokens; /* released by close, whole or not */
    *out_count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *token = json_array_get(array, i);
        char found[CLFI_JSON_FOUND_BYTES];
        if (!json_is_string(token) || strlen(json_string_value(token)) != json_string_length(token))
            CLF_FAIL(CLF_FORMAT, "%s: %s[%zu]: expected a string, found %s", where, key, i, clfi_json_found(token, found));
        CLF_TRY(clfi_strdup(json_string_value(token), &tokens[i]));
    }
    return CLF_OK;
}

static clf_status read_config(const json_t *json, clf_seq2seq *model, clf_transformer_config *config)
{
    const char *type;
    int64_t bos, eos;
    CLF_TRY(clfi_json_get_string(json, where, "model_type", &type));
    if (strcmp(type, "encoder-decoder") != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: model_type \"%s\": expected \"encoder-decoder\"", where, type);
    CLF_TRY(read_sizes(json, config));
    CLF_TRY(read_kinds(json, config));
    CLF_TRY(read_tokens(json, "source_tokens", &model->source_tokens, &model->source_count));
    CLF_TRY(read_tokens(json, "target_tokens", &model->target_tokens, &model->target_count));
    const int32_t least = model->source_count < model->target_count ? model->source_count : model->target_count;
    CLF_TRY(clfi_json_get_int(json, where, "bos_token_id", 0, model->target_count - 1, &bos));
    CLF_TRY(clfi_json_get_int(json, where, "eos_token_id", 0, least - 1, &eos));
    if (bos == eos)
        CLF_FAIL(CLF_FORMAT, "%s: bos_token_id and eos_token_id are both %lld", where, (long long)bos);
    model->bos = (int32_t)bos;
    model->eos = (int32_t)eos;
    config->source_vocabulary = model->source_count;
    config->target_vocabulary = model->target_count;
    return CLF_OK;
}

static clf_status open_weights(clf_context *context, const char *directory, clf_weights **out)
{
    static const char *const prefixes[] = {"", "model.", NULL};
    static const char probe[] = "src_embed.linear.weight";
    if (directory)
        return clfi_weights_open(context, directory, prefixes, probe, out);
    return clfi_weights_open_memory(context, clfi_g2p_weights, (size_t)(clfi_g2p_weights_end - clfi_g2p_weights),
                                    "built-in model.safetensors", prefixes, probe, out);
}

clf_status clfi_seq2seq_open_config(clf_context *context, const char *directory, const json_t *json, clf_seq2seq **out)
{
    clf_transformer_config config = CLF_TRANSFORMER_CONFIG_INIT;
    clf_seq2seq *model;
    clf_status st;
    CLF_TRY(clfi_alloc(1, sizeof *model, "model", &model));
    model->context = context;
    clfi_context_retain(context);
    CLF_GOTO(read_config(json, model, &config));
    CLF_GOTO(open_weights(context, directory, &model->weights));
    const clf_weight_source source = clfi_weights_of_checkpoint(model->weights);
    CLF_GOTO(clfi_transformer_build(context, &config, clfi_name_map(CLF_NAMES_LABML), &source, &model->network));
    model->file_bytes = clfi_weights_file_bytes(model->weights);
    model->parameters = clfi_weights_parameters(model->weights);
    *out = model;
    return CLF_OK;
done:
    clfi_seq2seq_close(model);
    return st;
}

clf_status clfi_seq2seq_open(clf_context *context, const char *directory, clf_seq2seq **out)
{
    json_t *json;
    if (directory)
        CLF_TRY(clfi_model_config_read(directory, &json));
    else
        CLF_TRY(
            clfi_json_parse((const char *)clfi_g2p_config, (size_t)(clfi_g2p_config_end - clfi_g2p_config), "built-in config.json", &json));
    const clf_status st = clfi_seq2seq_open_config(context, directory, json, out);
    json_decref(json);
    return st;
}

static void free_tokens(char **tokens, int32_t count)
{
    for (int32_t i = 0; tokens && i < count; i++)
        free(tokens[i]);
    free(tokens);
}

void clfi_seq2seq_close(clf_seq2seq *model)
{
    if (!model)
        return;
    clf_transformer_destroy(model->network);
    clfi_weights_close(model->weights); /* after the network, which uses it in place */
    free_tokens(model->source_tokens, model->source_count);
    free_tokens(model->target_tokens, model->target_count);
    clfi_context_release(model->context);
    free(model);
}
