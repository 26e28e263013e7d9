/* SPDX-License-Identifier: MIT */
/* Reads sentence-transformers' settings: modules.json, the Pooling module's config.json and the settings in the network's directory. */
#include "model/sentence_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/adapter_directory.h"
#include "io/json.h"
#include "io/model_directory.h"
#include "model/sentence_settings.h"
#include "model/transformer_settings.h"

/* If several keys are true, sentence-transformers concatenates the poolings in this order. */
static const struct {
    const char *key, *name; /* key: a boolean in older files; name: a value of pooling_mode in newer ones */
    clf_pooling pooling;
} poolings[] = {
    {"pooling_mode_cls_token", "cls", CLF_POOLING_CLS},
    {"pooling_mode_max_tokens", "max", CLF_POOLING_MAX},
    {"pooling_mode_mean_tokens", "mean", CLF_POOLING_MEAN},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", CLF_POOLING_MEAN_SQRT_LEN},
    {"pooling_mode_weightedmean_tokens", "weightedmean", CLF_POOLING_WEIGHTED_MEAN},
    {"pooling_mode_lasttoken", "lasttoken", CLF_POOLING_LAST},
};

static clf_status add_pooling(const char *where, const json_t *name, clf_sentence_config *config)
{
    const char *text = json_string_value(name);
    char found[CLFI_JSON_FOUND_BYTES];
    for (size_t i = 0; text && i < COUNT(poolings); i++) {
        if (strcmp(poolings[i].name, text) != 0)
            continue;
        if (config->pooling_count == COUNT(config->pooling))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: pooling_mode: expected at most %zu modes", where, COUNT(config->pooling));
        config->pooling[config->pooling_count++] = poolings[i].pooling;
        return CLF_OK;
    }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: pooling_mode %s: expected cls, max, mean, mean_sqrt_len_tokens, weightedmean or lasttoken", where,
             clfi_json_found(name, found));
}

static clf_status read_modes(const json_t *json, const char *where, clf_sentence_config *config)
{
    const json_t *mode = json_object_get(json, "pooling_mode");
    const char *key;
    json_t *value;
    bool include_prompt;
    config->pooling_count = 0;
    CLF_TRY(clfi_json_opt_bool(json, where, "include_prompt", true, &include_prompt));
    config->excludes_prompt = !include_prompt;
    if (json_is_array(mode) && json_array_size(mode) > 0) {
        for (size_t i = 0; i < json_array_size(mode); i++)
            CLF_TRY(add_pooling(where, json_array_get(mode, i), config));
        return CLF_OK;
    }
    if (mode)
        return add_pooling(where, mode, config);
    for (size_t i = 0; i < COUNT(poolings); i++) {
        bool on;
        CLF_TRY(clfi_json_opt_bool(json, where, poolings[i].key, false, &on));
        if (on)
            config->pooling[config->pooling_count++] = poolings[i].pooling;
    }
    json_object_foreach((json_t *)json, key, value)
    {
        bool is_known = strncmp(key, "pooling_mode", strlen("pooling_mode")) != 0 || !json_is_true(value);
        for (size_t i = 0; !is_known && i < COUNT(poolings); i++)
            is_known = strcmp(key, poolings[i].key) == 0;
        if (!is_known)
            CLF_FAIL(CLF_UNSUPPORTED,
                     "%s: %s: expected pooling_mode_cls_token, _max_tokens, _mean_tokens, _mean_sqrt_len_tokens, "
                     "_weightedmean_tokens or _lasttoken",
                     where, key);
    }
    if (config->pooling_count == 0)
        CLF_FAIL(CLF_FORMAT, "%s: no pooling mode is true", where);
    return CLF_OK;
}

static const char where_modules[] = CLFI_SENTENCE_MODULES;

/* Reads the directory of a module that has files. It can't be the model's directory, which has the network's files. */
static clf_status read_path(const char *path, char out[CLFI_MODULE_PATH_BYTES])
{
    CLF_TRY(clfi_module_path(path, out));
    if (!out[0])
        CLF_FAIL(CLF_FORMAT, "%s: path \"%s\" is not a plain directory name", where_modules, path);
    return CLF_OK;
}

static clf_status read_pooling(const char *directory, const char *path, clf_sentence_config *config)
{
    char *name, module[CLFI_MODULE_PATH_BYTES];
    json_t *json = NULL;
    CLF_TRY(read_path(path, module));
    CLF_TRY(clfi_path_join(module, "config.json", &name));
    clf_status st = clfi_json_read_in(directory, name, NULL, &json);
    if (st == CLF_OK)
        st = json ? read_modes(json, name, config)
                  : clfi_fail(CLF_NOT_FOUND, "%s/%s is missing: %s names a Pooling there (is the download complete?)", directory, name,
                              where_modules);
    json_decref(json);
    free(name);
    return st;
}

typedef struct module_class {
    const char *name, *file; /* file: the class's Python file, part of the type since sentence-transformers 6 */
    clf_module_kind kind;
} module_class;

static const module_class module_classes[] = {{"Transformer", "transformer", CLF_MODULE_TRANSFORMER},
                                              {"Pooling", "pooling", CLF_MODULE_POOLING},
                                              {"Dense", "dense", CLF_MODULE_DENSE},
                                              {"LayerNorm", "layer_norm", CLF_MODULE_LAYER_NORM},
                                              {"Normalize", "normalize", CLF_MODULE_NORMALIZE},
                                              {"Dropout", "dropout", CLF_MODULE_DROPOUT}};

/* If *at begins with the word, moves *at past it and returns true. */
static bool skip(const char **at, const char *word)
{
    const size_t size = strlen(word);
    if (strncmp(*at, word, size) != 0)
        return false;
    *at += size;
    return true;
}

/* Whether `type` is this class of sentence-transformers: "sentence_transformers.models.Pooling",
 * "sentence_transformers.models.Pooling.Pooling" or "sentence_transformers.sentence_transformer.modules.pooling.Pooling". A class of the
 * same name in another package may compute anything. */
static bool is_class(const char *type, const module_class *class)
{
    const char *at = type;
    if (!skip(&at, "sentence_transformers.") ||
        (!skip(&at, "models.") && !skip(&at, "base.modules.") && !skip(&at, "sentence_transformer.modules.")))
        return false;
    const char *dot = strchr(at, '.');
    if (dot && (skip(&at, class->name) || skip(&at, class->file)))
        return at == dot && strcmp(dot + 1, class->name) == 0;
    return strcmp(at, class->name) == 0;
}

static clf_status find_class(const char *type, clf_module_kind *out)
{
    for (size_t i = 0; i < COUNT(module_classes); i++)
        if (is_class(type, &module_classes[i])) {
            *out = module_classes[i].kind;
            return CLF_OK;
        }
    CLF_FAIL(CLF_UNSUPPORTED,
             "%s: module type \"%s\": expected one of sentence_transformers.models: Transformer, Pooling, Dense, LayerNorm, Normalize or "
             "Dropout",
             where_modules, type);
}

/* Reads a module after the Transformer and the Pooling. */
static clf_status read_module(clf_module_kind kind, const char *path, clf_sentence_config *config)
{
    const bool has_files = kind != CLF_MODULE_NORMALIZE && kind != CLF_MODULE_DROPOUT;
    char name[CLFI_MODULE_PATH_BYTES];
    CLF_TRY(has_files ? read_path(path, name) : clfi_module_path(path, name));
    if (kind == CLF_MODULE_DROPOUT) /* does nothing except in training */
        return CLF_OK;
    if (config->module_count == COUNT(config->module))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: expected at most %zu modules after the pooling", where_modules, COUNT(config->module));
    clf_sentence_module *module = &config->module[config->module_count++];
    module->kind = kind;
    memcpy(module->path, name, sizeof name);
    config->normalize = config->normalize || module->kind == CLF_MODULE_NORMALIZE;
    return CLF_OK;
}

/* Checks the only order that works in sentence-transformers: the Transformer, one Pooling, then modules that work on the pooled vector. */
static clf_status check_place(size_t index, clf_module_kind kind, const char *type)
{
    const clf_module_kind expected = index == 0 ? CLF_MODULE_TRANSFORMER : index == 1 ? CLF_MODULE_POOLING : kind;
    if (kind != expected || (index > 1 && (kind == CLF_MODULE_TRANSFORMER || kind == CLF_MODULE_POOLING)))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: module %zu is \"%s\": expected one Transformer, then one Pooling, then other modules", where_modules,
                 index, type);
    return CLF_OK;
}

/* Refuses a name that occurs twice: sentence-transformers would keep only the last module of that name. */
static clf_status check_name(const json_t *modules, size_t index)
{
    const json_t *name = json_object_get(json_array_get(modules, index), "name");
    for (size_t i = 0; name && i < index; i++)
        if (json_equal(name, json_object_get(json_array_get(modules, i), "name"))) {
            char found[CLFI_JSON_FOUND_BYTES];
            CLF_FAIL(CLF_UNSUPPORTED, "%s: modules %zu and %zu: expected names that differ, found %s twice", where_modules, i, index,
                     clfi_json_found(name, found));
        }
    return CLF_OK;
}

/* Reads modules.json. pooling_count stays 0 if it lists only a Transformer, as cross-encoders do: such a model makes no embedding. */
static clf_status read_modules(const char *directory, const json_t *modules, clf_sentence_config *config)
{
    if (!json_is_array(modules) || json_array_size(modules) == 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected an array of modules", where_modules);
    config->pooling_count = 0;
    for (size_t i = 0; i < json_array_size(modules); i++) {
        const json_t *module = json_array_get(modules, i);
        const char *type, *path;
        clf_module_kind kind = CLF_MODULE_TRANSFORMER;
        CLF_TRY(clfi_json_get_string(module, where_modules, "type", &type));
        CLF_TRY(clfi_json_opt_string(module, where_modules, "path", "", &path));
        CLF_TRY(check_name(modules, i));
        CLF_TRY(find_class(type, &kind));
        CLF_TRY(check_place(i, kind, type));
        if (kind == CLF_MODULE_POOLING)
            CLF_TRY(read_pooling(directory, path, config));
        else if (kind != CLF_MODULE_TRANSFORMER)
            CLF_TRY(read_module(kind, path, config));
    }
    return CLF_OK;
}

/* transformers reads max_len, the older name, if model_max_length is missing. */
clf_status clfi_tokenizer_length_read(const char *directory, int64_t *out)
{
    static const char file[] = "tokenizer_config.json";
    json_t *json;
    *out = 0;
    CLF_TRY(clfi_json_read_in(directory, file, NULL, &json));
    const char *key = json_object_get(json, "model_max_length") ? "model_max_length" : "max_len";
    const clf_status st = json ? clfi_length_read(json, file, key, out) : CLF_OK;
    json_decref(json);
    return st;
}

/* Reads whether model_input_names lacks token_type_ids. Files have the key only if the tokenizer's class does not determine the network's
 * inputs. */
static clf_status read_inputs(const char *directory, bool *lacks_types)
{
    static const char file[] = "tokenizer_config.json";
    const json_t *names = NULL;
    json_t *json;
    *lacks_types = false;
    CLF_TRY(clfi_json_read_in(directory, file, NULL, &json));
    const clf_status st = json ? clfi_json_opt_array(json, file, "model_input_names", &names) : CLF_OK;
    *lacks_types = names != NULL;
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        *lacks_types = *lacks_types && !(name && strcmp(name, "token_type_ids") == 0);
    }
    json_decref(json);
    return st;
}

/* Reads the settings in the network's directory: sentence_bert_config.json and tokenizer_config.json. */
static clf_status read_network(const char *directory, clf_sentence_config *config)
{
    char *network;
    const char *name;
    json_t *settings = NULL;
    CLF_TRY(clfi_network_directory(directory, &network));
    clf_status st = clfi_transformer_settings_read(network, &settings, &name);
    if (st == CLF_OK && settings)
        st = clfi_transformer_settings_check(settings, name);
    if (st == CLF_OK)
        st = read_inputs(network, &config->lacks_types);
    if (st == CLF_OK)
        st = clfi_tokenizer_length_read(network, &config->max_tokens);
    if (st == CLF_OK && settings)
        st = clfi_transformer_settings_length(settings, name, &config->max_tokens);
    json_decref(settings);
    free(network);
    return st;
}

clf_status clfi_sentence_place(const char *directory, char **out)
{
    static const char *const files[] = {CLFI_SENTENCE_MODULES};
    return clfi_adapter_place(directory, files, COUNT(files), out);
}

clf_status clfi_sentence_config_read(const char *directory, clf_pooling standard, clf_sentence_config *out)
{
    clf_sentence_config config = {.pooling = {standard}, .pooling_count = 1};
    json_t *modules;
    CLF_TRY(clfi_json_read_in(directory, where_modules, NULL, &modules));
    const clf_status st = modules ? read_modules(directory, modules, &config) : CLF_OK;
    config.has_modules = modules != NULL;
    json_decref(modules);
    CLF_TRY(st);
    CLF_TRY(read_network(directory, &config));
    *out = config;
    return CLF_OK;
}

clf_status clfi_sentence_activation(const char *name, const char *where, clf_activation *out)
{
    static const struct {
        const char *name;
        clf_activation activation;
    } rows[] = {{"Tanh", CLF_ACTIVATION_TANH}, {"Identity", CLF_ACTIVATION_NONE}, {"ReLU", CLF_ACTIVATION_RELU},
                {"GELU", CLF_ACTIVATION_GELU}, {"SiLU", CLF_ACTIVATION_SILU},     {"Sigmoid", CLF_ACTIVATION_SIGMOID}};
    static const char package[] = "torch.nn.";
    const char *last = strncmp(name, package, sizeof package - 1) == 0 ? strrchr(name, '.') + 1 : "";
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].name, last) == 0) {
            *out = rows[i].activation;
            return CLF_OK;
        }
    }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: activation_function \"%s\": expected torch.nn's Tanh, Identity, ReLU, GELU, SiLU or Sigmoid", where,
             name);
}
