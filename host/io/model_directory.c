/* SPDX-License-Identifier: MIT */
/* Finds the parts of a model's directory. */
#include "io/model_directory.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/json.h"

static const char modules_name[] = CLFI_SENTENCE_MODULES;

clf_status clfi_module_path(const char *path, char out[CLFI_MODULE_PATH_BYTES])
{
    const char *name = path;
    while (name[0] == '.' && name[1] == '/')
        for (name += 2; name[0] == '/';)
            name++;
    if (strcmp(name, ".") == 0)
        name++;
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] == '/')
        length--;
    if (path[0] == '/' || name[0] == '.' || memchr(name, '/', length) || length >= CLFI_MODULE_PATH_BYTES)
        CLF_FAIL(CLF_FORMAT, "%s: path \"%s\" is not a plain directory name", modules_name, path);
    memcpy(out, name, length);
    out[length] = '\0';
    return CLF_OK;
}

/* "": the directory itself. */
static clf_status read_first(const json_t *modules, char out[CLFI_MODULE_PATH_BYTES])
{
    const json_t *first = json_array_get(modules, 0);
    const char *type = json_string_value(json_object_get(first, "type")), *path = json_string_value(json_object_get(first, "path"));
    const char *dot = type ? strrchr(type, '.') : NULL;
    out[0] = '\0';
    return dot && path && strcmp(dot, ".Transformer") == 0 ? clfi_module_path(path, out) : CLF_OK;
}

clf_status clfi_network_directory(const char *directory, char **out)
{
    char name[CLFI_MODULE_PATH_BYTES];
    json_t *modules;
    CLF_TRY(clfi_json_read_in(directory, modules_name, NULL, &modules));
    const clf_status st = read_first(modules, name);
    json_decref(modules);
    CLF_TRY(st);
    return name[0] ? clfi_path_join(directory, name, out) : clfi_strdup(directory, out);
}

static const char *const settings_names[] = {
    "sentence_bert_config.json",   "sentence_roberta_config.json",     "sentence_distilbert_config.json", "sentence_camembert_config.json",
    "sentence_albert_config.json", "sentence_xlm-roberta_config.json", "sentence_xlnet_config.json"};

clf_status clfi_transformer_settings_read(const char *network_directory, json_t **out, const char **name)
{
    char found[CLFI_JSON_FOUND_BYTES];
    *out = NULL;
    *name = settings_names[0];
    for (size_t i = 0; i < COUNT(settings_names) && !*out; i++) {
        CLF_TRY(clfi_json_read_in(network_directory, settings_names[i], NULL, out));
        *name = settings_names[i];
        if (*out && !json_is_object(*out)) {
            clfi_fail(CLF_FORMAT, "%s: expected an object, found %s", *name, clfi_json_found(*out, found));
            json_decref(*out);
            *out = NULL;
            return CLF_FORMAT;
        }
        if (*out && json_object_size(*out) == 0) {
            json_decref(*out);
            *out = NULL;
        }
    }
    return CLF_OK;
}

clf_status clfi_transformer_settings_open(const char *directory, json_t **out, const char **name)
{
    char *network;
    *out = NULL;
    CLF_TRY(clfi_network_directory(directory, &network));
    const clf_status st = clfi_transformer_settings_read(network, out, name);
    free(network);
    return st;
}

bool clfi_is_transformer_settings(const char *name)
{
    for (size_t i = 0; i < COUNT(settings_names); i++)
        if (strcmp(settings_names[i], name) == 0)
            return true;
    return false;
}

clf_status clfi_transformer_arguments(const json_t *settings, const char *name, const char *key, const char *older, const char **found,
                                      const json_t **out)
{
    *found = json_object_get(settings, older) ? older : key;
    return clfi_json_opt_object(settings, name, *found, out);
}
