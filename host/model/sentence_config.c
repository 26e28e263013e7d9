/* SPDX-License-Identifier: MIT */
/* sentence-transformers' module list and settings. */
#include "model/sentence_config.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/json.h"

enum { CONFIG_LIMIT_BYTES = 16 << 20 };

/* The parsed file, or NULL where the directory has none. */
static clf_status read_optional(const char *directory, const char *name, json_t **out)
{
    char *path;
    *out = NULL;
    CLF_TRY(clfi_path_join(directory, name, &path));
    const clf_status st = clfi_file_exists(path) ? clfi_json_read(path, CONFIG_LIMIT_BYTES, out) : CLF_OK;
    free(path);
    return st;
}

static clf_status read_pooling(const char *directory, const char *module, clf_pooling *out)
{
    static const struct {
        const char *key;
        int pooling; /* -1: known to sentence-transformers, not built here */
    } modes[] = {
        {"pooling_mode_cls_token", CLF_POOLING_CLS},
        {"pooling_mode_mean_tokens", CLF_POOLING_MEAN},
        {"pooling_mode_max_tokens", CLF_POOLING_MAX},
        {"pooling_mode_mean_sqrt_len_tokens", CLF_POOLING_MEAN_SQRT_LEN},
        {"pooling_mode_weightedmean_tokens", -1},
        {"pooling_mode_lasttoken", -1},
    };
    char *name;
    json_t *json = NULL;
    int found = 0;
    CLF_TRY(clfi_path_join(module, "config.json", &name));
    clf_status st = read_optional(directory, name, &json);
    for (size_t i = 0; json && st == CLF_OK && i < COUNT(modes); i++) {
        bool on = false;
        st = clfi_json_opt_bool(json, name, modes[i].key, false, &on);
        if (st != CLF_OK || !on)
            continue;
        if (modes[i].pooling < 0 || found++ > 0)
            st = clfi_fail(CLF_UNSUPPORTED, "%s: %s: expected one of cls, mean, max, mean_sqrt_len alone", name, modes[i].key);
        else
            *out = (clf_pooling)modes[i].pooling;
    }
    if (st == CLF_OK && json && found == 0)
        st = clfi_fail(CLF_FORMAT, "%s: no pooling mode is true", name);
    json_decref(json);
    free(name);
    return st;
}

/* Directories inside the model only: "1_Pooling", never "../x" or "/x". */
static bool is_plain_name(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
}

static clf_status read_modules(const char *directory, const json_t *modules, clf_sentence_config *config)
{
    static const char where[] = "modules.json";
    bool has_transformer = false;
    if (!json_is_array(modules))
        CLF_FAIL(CLF_FORMAT, "%s: expected an array of modules", where);
    for (size_t i = 0; i < json_array_size(modules); i++) {
        const json_t *module = json_array_get(modules, i);
        const char *type, *path;
        CLF_TRY(clfi_json_get_string(module, where, "type", &type));
        CLF_TRY(clfi_json_opt_string(module, where, "path", "", &path));
        const char *dot = strrchr(type, '.');
        const char *kind = dot ? dot + 1 : type;
        if (strcmp(kind, "Transformer") == 0) {
            if (path[0])
                CLF_FAIL(CLF_UNSUPPORTED, "%s: the Transformer module is in \"%s\", expected the directory itself", where, path);
            has_transformer = true;
        } else if (strcmp(kind, "Pooling") == 0) {
            if (!is_plain_name(path))
                CLF_FAIL(CLF_FORMAT, "%s: path \"%s\" is not a plain directory name", where, path);
            CLF_TRY(read_pooling(directory, path, &config->pooling));
        } else if (strcmp(kind, "Normalize") == 0) {
            config->normalize = true;
        } else {
            CLF_FAIL(CLF_UNSUPPORTED, "%s: module type \"%s\": expected Transformer, Pooling or Normalize", where, type);
        }
    }
    if (!has_transformer)
        CLF_FAIL(CLF_FORMAT, "%s: no Transformer module", where);
    return CLF_OK;
}

/* The first of the two files that gives a length wins: as sentence-transformers does. */
static clf_status read_max_tokens(const char *directory, int64_t *out)
{
    static const struct {
        const char *file, *key;
    } rows[] = {{"sentence_bert_config.json", "max_seq_length"}, {"tokenizer_config.json", "model_max_length"}};
    *out = 0;
    for (size_t i = 0; *out == 0 && i < COUNT(rows); i++) {
        json_t *json;
        double value = 0; /* "no limit" is written as 1e30 by some tools */
        CLF_TRY(read_optional(directory, rows[i].file, &json));
        const clf_status st = json ? clfi_json_opt_number(json, rows[i].file, rows[i].key, 1, 1e31, 0, &value) : CLF_OK;
        json_decref(json);
        CLF_TRY(st);
        *out = value > 1e9 ? 0 : (int64_t)value;
    }
    return CLF_OK;
}

clf_status clfi_sentence_config_read(const char *directory, clf_sentence_config *out)
{
    clf_sentence_config config = {CLF_POOLING_MEAN, false, 0};
    json_t *modules;
    CLF_TRY(read_optional(directory, "modules.json", &modules));
    const clf_status st = modules ? read_modules(directory, modules, &config) : CLF_OK;
    json_decref(modules);
    CLF_TRY(st);
    CLF_TRY(read_max_tokens(directory, &config.max_tokens));
    *out = config;
    return CLF_OK;
}
