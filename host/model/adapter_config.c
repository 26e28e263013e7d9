/* SPDX-License-Identifier: MIT */
/* Reads adapter_config.json: sorts its keys by their effect, and matches its patterns of modules. */
#include "model/adapter_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/adapter_directory.h"
#include "io/json.h"
#include "text/regex.h"

typedef enum key_use {
    KEY_READ,     /* the merge or this file follows it */
    KEY_HARMLESS, /* for training only, or repeats what the weights say */
    KEY_ABSENT    /* changes the network: expected to be absent, null, false or empty */
} key_use;

static const struct {
    const char *key;
    key_use use;
} keys[] = {
    {"peft_type", KEY_READ},
    {"base_model_name_or_path", KEY_READ},
    {"r", KEY_READ},
    {"lora_alpha", KEY_READ},
    {"use_rslora", KEY_READ},
    {"rank_pattern", KEY_READ},
    {"alpha_pattern", KEY_READ},
    {"target_modules", KEY_READ},
    {"exclude_modules", KEY_READ},
    {"layers_to_transform", KEY_READ},
    {"layers_pattern", KEY_READ},
    {"modules_to_save", KEY_READ},
    {"bias", KEY_READ},
    {"init_lora_weights", KEY_READ},
    {"auto_mapping", KEY_HARMLESS},
    {"corda_config", KEY_HARMLESS}, /* this and the next three belong to init_lora_weights */
    {"eva_config", KEY_HARMLESS},
    {"loftq_config", KEY_HARMLESS},
    {"lora_ga_config", KEY_HARMLESS},
    {"fan_in_fan_out", KEY_HARMLESS}, /* peft sets it by the module's class */
    {"inference_mode", KEY_HARMLESS},
    {"lora_bias", KEY_HARMLESS}, /* the weights have lora_B.bias */
    {"lora_dropout", KEY_HARMLESS},
    {"megatron_core", KEY_HARMLESS}, /* the name of a Python module, for megatron_config */
    {"peft_version", KEY_HARMLESS},
    {"qalora_group_size", KEY_HARMLESS}, /* for use_qalora */
    {"revision", KEY_HARMLESS},
    {"runtime_config", KEY_HARMLESS},
    {"task_type", KEY_HARMLESS},
    {"alora_invocation_tokens", KEY_ABSENT},
    {"arrow_config", KEY_ABSENT},
    {"ensure_weight_tying", KEY_ABSENT},
    {"kasa_config", KEY_ABSENT},
    {"layer_replication", KEY_ABSENT},
    {"megatron_config", KEY_ABSENT},
    {"monteclora_config", KEY_ABSENT},
    {"target_parameters", KEY_ABSENT},
    {"trainable_token_indices", KEY_ABSENT},
    {"use_bdlora", KEY_ABSENT},
    {"use_dora", KEY_ABSENT},
    {"use_qalora", KEY_ABSENT},
    {"velora_config", KEY_ABSENT},
};

/* null, false, "", [] and {}. */
static bool is_empty(const json_t *value)
{
    return json_is_null(value) || json_is_false(value) || (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0) || (json_is_string(value) && json_string_length(value) == 0);
}

static clf_status check_key(const char *path, const char *key, const json_t *value)
{
    char found[CLFI_JSON_FOUND_BYTES];
    for (size_t i = 0; i < COUNT(keys); i++) {
        if (strcmp(keys[i].key, key) != 0)
            continue;
        if (keys[i].use == KEY_ABSENT && !is_empty(value))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %s: such adapters are not supported (merge it with peft and save the model)", path, key,
                     clfi_json_found(value, found));
        return CLF_OK;
    }
    if (!is_empty(value))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: unknown key of a LoRA adapter, found %s (merge it with peft and save the model)", path, key,
                 clfi_json_found(value, found));
    return CLF_OK;
}

/* Refuses starting weights that peft subtracts from the model's own when it opens the adapter. */
static clf_status check_start(const json_t *config, const char *path)
{
    static const char *const changing[] = {"pissa", "corda", "olora", "loftq", "lora_ga"};
    const char *start = json_string_value(json_object_get(config, "init_lora_weights"));
    for (size_t i = 0; start && i < COUNT(changing); i++)
        if (strncasecmp(start, changing[i], strlen(changing[i])) == 0)
            CLF_FAIL(CLF_UNSUPPORTED,
                     "%s: init_lora_weights \"%s\": it changes the model's own weights (convert the adapter to plain LoRA with peft)", path,
                     start);
    return CLF_OK;
}

static clf_status check(const json_t *config, const char *path)
{
    static const char *const biases[] = {"none", "all", "lora_only"};
    const char *type, *bias, *key;
    json_t *value;
    bool is_known = false;
    CLF_TRY(clfi_json_get_string(config, path, "peft_type", &type));
    if (strcmp(type, "LORA") != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: peft_type \"%s\": expected \"LORA\" (merge the adapter with peft and save the model)", path, type);
    json_object_foreach((json_t *)config, key, value) CLF_TRY(check_key(path, key, value));
    CLF_TRY(clfi_json_opt_string(config, path, "bias", "none", &bias));
    for (size_t i = 0; i < COUNT(biases); i++)
        is_known = is_known || strcmp(bias, biases[i]) == 0;
    if (!is_known)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: bias \"%s\": expected none, all or lora_only", path, bias);
    return check_start(config, path);
}

clf_status clfi_adapter_config_read(const char *directory, char **out_path, json_t **out)
{
    char *path = NULL;
    json_t *config = NULL;
    *out_path = NULL;
    *out = NULL;
    CLF_TRY(clfi_json_read_in(directory, CLFI_ADAPTER_CONFIG, &path, &config));
    const clf_status st = config ? check(config, path) : CLF_OK;
    if (st != CLF_OK) {
        json_decref(config);
        free(path);
        return st;
    }
    *out_path = path;
    *out = config;
    return CLF_OK;
}

/* Whether before + pattern + after, a regular expression, matches the whole text. */
static clf_status matches(const char *path, const char *before, const char *pattern, const char *after, const char *text, bool *out)
{
    clf_str whole = CLF_STR_INIT;
    clf_regex *regex = NULL;
    clf_regex_memory *memory = NULL;
    clf_piece_list pieces = {0};
    clf_status st;
    CLF_GOTO(clfi_str_appendf(&whole, "^(?:%s(?:%s)%s)$", before, pattern, after));
    CLF_GOTO(clfi_regex_create(clfi_str_text(&whole), path, &regex));
    CLF_GOTO(clfi_regex_find(regex, text, strlen(text), &memory, &pieces));
    *out = pieces.count == 1 && pieces.pieces[0].id == 1;
done:
    free(pieces.pieces);
    clfi_regex_memory_free(memory);
    clfi_regex_destroy(regex);
    clfi_str_free(&whole);
    return st;
}

/* The value of the first pattern that matches the end of the module's path; `standard` where there is none. */
static clf_status of_pattern(const json_t *config, const char *path, const char *key, const char *module, double standard, double *out)
{
    enum { LARGEST = 1 << 24 };
    const json_t *patterns;
    const char *pattern;
    json_t *value;
    *out = standard;
    CLF_TRY(clfi_json_opt_object(config, path, key, &patterns));
    json_object_foreach((json_t *)patterns, pattern, value)
    {
        bool is_match;
        CLF_TRY(matches(path, "(?:.*\\.)?", pattern, "", module, &is_match));
        if (is_match)
            return clfi_json_get_number(patterns, key, pattern, 0, LARGEST, out);
    }
    return CLF_OK;
}

clf_status clfi_adapter_config_scaling(const json_t *config, const char *path, const char *module, int64_t *rank, double *scaling)
{
    enum { LARGEST = 1 << 24, USUAL = 8 };
    int64_t r;
    double alpha, own_rank;
    bool is_rank_stabilized;
    CLF_TRY(clfi_json_opt_int(config, path, "r", 1, LARGEST, USUAL, &r));
    CLF_TRY(clfi_json_opt_number(config, path, "lora_alpha", -LARGEST, LARGEST, USUAL, &alpha));
    CLF_TRY(clfi_json_opt_bool(config, path, "use_rslora", false, &is_rank_stabilized));
    CLF_TRY(of_pattern(config, path, "rank_pattern", module, (double)r, &own_rank));
    CLF_TRY(of_pattern(config, path, "alpha_pattern", module, alpha, &alpha));
    if (own_rank < 1 || own_rank != floor(own_rank))
        CLF_FAIL(CLF_FORMAT, "%s: rank_pattern: %g for %s: expected a whole number above 0", path, own_rank, module);
    *rank = (int64_t)own_rank;
    *scaling = alpha / (is_rank_stabilized ? sqrt(own_rank) : own_rank);
    return CLF_OK;
}

/* Whether the text is the name, or ends in "." and the name. */
static bool ends_in(const char *text, const char *name)
{
    const size_t size = strlen(text), length = strlen(name);
    return size >= length && strcmp(text + size - length, name) == 0 && (size == length || text[size - length - 1] == '.');
}

/* A list of names that a path may end in, or one expression for all of it. */
static clf_status is_named(const json_t *value, const char *path, const char *key, const char *module, bool *out)
{
    char found[CLFI_JSON_FOUND_BYTES];
    *out = false;
    if (json_is_string(value))
        return matches(path, "", json_string_value(value), "", module, out);
    if (!json_is_array(value))
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected a list of names or a regular expression, found %s", path, key,
                 clfi_json_found(value, found));
    for (size_t i = 0; i < json_array_size(value) && !*out; i++) {
        const char *name = json_string_value(json_array_get(value, i));
        if (!name)
            CLF_FAIL(CLF_FORMAT, "%s: %s[%zu]: expected a string, found %s", path, key, i,
                     clfi_json_found(json_array_get(value, i), found));
        *out = ends_in(module, name);
    }
    return CLF_OK;
}

/* The number of the module's layer: the first of its parts that is a number, has a part after it, and before it at least two parts
 * (`before` NULL) or parts whose end `before` matches. -1: there is none. */
static clf_status layer_of(const char *path, const char *before, const char *module, long *out)
{
    for (const char *at = strchr(module, '.'); at; at = strchr(at + 1, '.')) {
        char *end;
        const long layer = strtol(at + 1, &end, 10);
        bool is_match = true;
        if (end == at + 1 || *end != '.' || at[1] < '0' || at[1] > '9' || (!before && !memchr(module, '.', (size_t)(at - module))))
            continue;
        if (before) {
            char *head;
            CLF_TRY(clfi_strndup(module, (size_t)(at - module), &head));
            const clf_status st = matches(path, "(?:.*\\.)?", before, "", head, &is_match);
            free(head);
            CLF_TRY(st);
        }
        if (is_match) {
            *out = layer;
            return CLF_OK;
        }
    }
    *out = -1;
    return CLF_OK;
}

static clf_status find_layer(const json_t *config, const char *path, const char *module, long *out)
{
    const json_t *pattern = json_object_get(config, "layers_pattern");
    const size_t count = json_is_array(pattern) ? json_array_size(pattern) : 1;
    if (!pattern || is_empty(pattern))
        return layer_of(path, NULL, module, out);
    *out = -1;
    for (size_t i = 0; i < count && *out < 0; i++) {
        const char *before = json_string_value(json_is_array(pattern) ? json_array_get(pattern, i) : pattern);
        if (!before)
            CLF_FAIL(CLF_FORMAT, "%s: layers_pattern: expected a string or a list of strings", path);
        CLF_TRY(layer_of(path, before, module, out));
    }
    return CLF_OK;
}

static clf_status is_of_layers(const json_t *config, const char *path, const char *module, bool *out)
{
    const json_t *layers = json_object_get(config, "layers_to_transform");
    const size_t count = json_is_array(layers) ? json_array_size(layers) : 1;
    long layer;
    *out = true;
    if (!layers || is_empty(layers))
        return CLF_OK;
    CLF_TRY(find_layer(config, path, module, &layer));
    *out = false;
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_is_array(layers) ? json_array_get(layers, i) : layers;
        if (!json_is_integer(one))
            CLF_FAIL(CLF_FORMAT, "%s: layers_to_transform: expected a whole number or a list of them", path);
        *out = *out || (layer >= 0 && json_integer_value(one) == layer);
    }
    return CLF_OK;
}

clf_status clfi_adapter_config_saves(const json_t *config, const char *path, const char *module, bool *out)
{
    const json_t *saved;
    *out = false;
    CLF_TRY(clfi_json_opt_array(config, path, "modules_to_save", &saved));
    for (size_t i = 0; i < json_array_size(saved) && !*out; i++) {
        const char *name = json_string_value(json_array_get(saved, i));
        if (!name)
            CLF_FAIL(CLF_FORMAT, "%s: modules_to_save[%zu]: expected a string", path, i);
        CLF_TRY(matches(path, "(?:.*\\.)?", name, "(?:\\..*)?", module, out));
    }
    return CLF_OK;
}

clf_status clfi_adapter_config_targets(const json_t *config, const char *path, const char *module, bool *out)
{
    const json_t *targets = json_object_get(config, "target_modules"), *excluded = json_object_get(config, "exclude_modules");
    bool is_out = false;
    *out = false;
    if (excluded && !is_empty(excluded))
        CLF_TRY(is_named(excluded, path, "exclude_modules", module, &is_out));
    if (!is_out)
        CLF_TRY(clfi_adapter_config_saves(config, path, module, &is_out));
    if (is_out)
        return CLF_OK;
    if (!targets || json_is_null(targets) || (json_is_string(targets) && strcasecmp(json_string_value(targets), "all-linear") == 0)) {
        *out = true; /* peft chose the modules by the network: they are those that the adapter's file has */
        return CLF_OK;
    }
    CLF_TRY(is_named(targets, path, "target_modules", module, out));
    return *out && json_is_array(targets) ? is_of_layers(config, path, module, out) : CLF_OK;
}
