/* SPDX-License-Identifier: MIT */
/* Sorts the files and keys of a model's directory by the table of known files and keys. */
#include "model/directory_account.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/checkpoint.h"
#include "io/json.h"
#include "model/generation_config.h"
#include "model/sentence_settings.h"
#include "text/tokenizer_files.h"

bool clfi_account_has(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

const clf_account_row *clfi_account_find(const char *file, const char *type, const char *key)
{
    size_t count;
    const clf_account_row *rows = clfi_account_rows(&count), *every = NULL;
    for (size_t i = 0; i < count; i++) {
        const clf_account_row *row = &rows[i];
        if (strcmp(row->file, file) != 0 || (row->types && !(type && clfi_account_has(row->types, type))))
            continue;
        if (clfi_account_has(row->keys, key))
            return row;
        if (strcmp(row->keys, "*") == 0)
            every = row;
    }
    return every;
}

const clf_account_row *clfi_account_file(const char *name)
{
    size_t count;
    const clf_account_row *rows = clfi_account_rows(&count);
    for (size_t i = 0; i < count; i++)
        if (!rows[i].keys[0] && fnmatch(rows[i].file, name, 0) == 0)
            return &rows[i];
    return NULL;
}

bool clfi_account_is_set(const json_t *value)
{
    return value && !json_is_null(value) && !json_is_false(value) && !(json_is_object(value) && json_object_size(value) == 0) &&
           !(json_is_array(value) && json_array_size(value) == 0);
}

/* The method of a quantization_config. Older files of bitsandbytes do not name it. */
static const char *quantization(const json_t *value)
{
    const char *method = json_string_value(json_object_get(value, "quant_method"));
    const bool is_older = json_is_true(json_object_get(value, "load_in_8bit")) || json_is_true(json_object_get(value, "load_in_4bit"));
    return is_older ? "bitsandbytes" : method;
}

static const char *type_of(const json_t *object)
{
    return json_string_value(json_object_get(object, "model_type"));
}

clf_status clfi_account_check(const json_t *object, const char *file, const char *where)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const clf_account_row *row = clfi_account_find(file, type_of(object), key);
        const bool is_asked = clfi_account_is_set(value) || (row && row->keys[0] == '*' && json_is_false(value));
        if (!row || row->verdict != CLF_ACCOUNT_REFUSED || !is_asked)
            continue;
        const char *method = quantization(value);
        if (method)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: quant_method \"%s\": %s", where, key, method,
                     clfi_account_find(CLFI_ACCOUNT_QUANTIZATION, NULL, method)->reason);
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: %s", where, key, row->reason);
    }
    return CLF_OK;
}

static clf_status append(json_t **list, const char *where, const char *key)
{
    if (!*list)
        *list = json_array();
    if (!*list || json_array_append_new(*list, json_sprintf("%s: %s", where, key)) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "account of keys: not enough memory");
    return CLF_OK;
}

/* Whether the value is a layer_types that changes nothing: full attention in all layers. */
static bool is_usual(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *kind = json_string_value(json_array_get(list, i));
        if (!kind || strcmp(kind, "full_attention") != 0)
            return false;
    }
    return json_array_size(list) > 0;
}

/* Adds the keys of an object by the rows of `first` (NULL: none), and those that have no row there by the rows of `file`. */
static clf_status add(const json_t *object, const char *file, const char *first, const char *where, clf_directory_account *account)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const clf_account_row *row = first ? clfi_account_find(first, type_of(object), key) : NULL;
        if (strcmp(key, CLFI_CONFIG_ARGUMENTS) == 0) /* its keys are in the object already */
            continue;
        if (!row)
            row = clfi_account_find(file, type_of(object), key);
        if (row && row->verdict == CLF_ACCOUNT_FOLLOWED)
            CLF_TRY(append(&account->followed, where, key));
        else if ((row && row->verdict == CLF_ACCOUNT_HARMLESS) || !clfi_account_is_set(value) || is_usual(value) ||
                 (strcmp(file, CLFI_MODEL_CONFIG) == 0 && clfi_account_generates(key)))
            CLF_TRY(append(&account->harmless, where, key));
        else
            CLF_TRY(append(&account->unknown, where, key));
    }
    return CLF_OK;
}

bool clfi_account_generates(const char *key)
{
    return clfi_account_find(CLFI_ACCOUNT_GENERATION, NULL, key) || clfi_generation_config_refuses(key);
}

clf_status clfi_account_config(const json_t *config, int64_t labels, clf_directory_account *account)
{
    return add(config, CLFI_MODEL_CONFIG, labels > 0 ? CLFI_ACCOUNT_CLASSIFIER : NULL, CLFI_MODEL_CONFIG, account);
}

clf_status clfi_account_settings(const char *directory, clf_directory_account *account)
{
    json_t *settings = NULL, *modules = NULL;
    clf_status st;
    CLF_GOTO(clfi_json_read_in(directory, CLFI_SENTENCE_SETTINGS, NULL, &settings));
    CLF_GOTO(clfi_json_read_in(directory, CLFI_SENTENCE_MODULES, NULL, &modules));
    CLF_GOTO(add(settings, CLFI_SENTENCE_SETTINGS, modules ? CLFI_ACCOUNT_WITH_MODULES : NULL, CLFI_SENTENCE_SETTINGS, account));
done:
    json_decref(modules);
    json_decref(settings);
    return st;
}

clf_status clfi_account_tokenizer(const char *directory, clf_directory_account *account)
{
    static const char *const files[] = {CLFI_ACCOUNT_TOKENIZER, CLFI_ACCOUNT_SPECIALS, CLFI_ACCOUNT_ADDED};
    char *place;
    CLF_TRY(clfi_tokenizer_place(directory, &place));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < COUNT(files); i++) {
        json_t *json = NULL;
        st = clfi_json_read_in(place, files[i], NULL, &json);
        if (st == CLF_OK)
            st = add(json, files[i], NULL, files[i], account);
        json_decref(json);
    }
    free(place);
    return st;
}

clf_status clfi_account_unknown(const clf_directory_account *account, const char *where, json_t **out)
{
    const size_t length = strlen(where);
    json_t *list = json_array();
    bool is_whole = list != NULL;
    for (size_t i = 0; i < json_array_size(account->unknown); i++) {
        const char *text = json_string_value(json_array_get(account->unknown, i));
        if (strncmp(text, where, length) == 0 && strncmp(text + length, ": ", 2) == 0)
            is_whole = json_array_append_new(list, json_string(text + length + 2)) == 0 && is_whole;
    }
    if (!is_whole) {
        json_decref(list);
        CLF_FAIL(CLF_OUT_OF_MEMORY, "account of keys: not enough memory");
    }
    *out = list;
    return CLF_OK;
}

/* Adds a module's config.json, if it has one. Its rows are found by the last part of the module's type. */
static clf_status add_module(const char *directory, const json_t *module, clf_directory_account *account)
{
    const char *type = json_string_value(json_object_get(module, "type")), *path = json_string_value(json_object_get(module, "path"));
    const char *dot = type ? strrchr(type, '.') : NULL;
    char folder[CLFI_MODULE_PATH_BYTES];
    char *where = NULL, *file = NULL;
    json_t *json = NULL;
    clf_status st;
    if (!dot || !path || strcmp(dot, ".Transformer") == 0)
        return CLF_OK;
    CLF_TRY(clfi_module_path(path, folder));
    if (!folder[0])
        return CLF_OK;
    CLF_GOTO(clfi_path_join(folder, CLFI_MODEL_CONFIG, &where));
    CLF_GOTO(clfi_path_join(dot + 1, CLFI_MODEL_CONFIG, &file));
    CLF_GOTO(clfi_json_read_in(directory, where, NULL, &json));
    CLF_GOTO(add(json, file, NULL, where, account));
done:
    json_decref(json);
    free(where);
    free(file);
    return st;
}

static clf_status add_arguments(const json_t *settings, const char *name, clf_directory_account *account)
{
    static const char *const keys[][2] = {
        {"config_kwargs", "config_args"}, {"model_kwargs", "model_args"}, {"processor_kwargs", "tokenizer_args"}};
    for (size_t i = 0; i < COUNT(keys); i++) {
        char file[96], where[128];
        const char *found;
        const json_t *object;
        CLF_TRY(clfi_transformer_arguments(settings, name, keys[i][0], keys[i][1], &found, &object));
        snprintf(file, sizeof file, CLFI_TRANSFORMER_SETTINGS ": %s", keys[i][0]);
        snprintf(where, sizeof where, "%s: %s", name, found);
        CLF_TRY(add(object, file, NULL, where, account));
    }
    return CLF_OK;
}

static clf_status add_settings(const char *directory, clf_directory_account *account)
{
    const char *name;
    json_t *settings;
    CLF_TRY(clfi_transformer_settings_open(directory, &settings, &name));
    clf_status st = add(settings, CLFI_TRANSFORMER_SETTINGS, NULL, name, account);
    if (st == CLF_OK && settings)
        st = add_arguments(settings, name, account);
    json_decref(settings);
    return st;
}

clf_status clfi_account_modules(const char *directory, clf_directory_account *account)
{
    json_t *modules;
    CLF_TRY(add_settings(directory, account));
    CLF_TRY(clfi_json_read_in(directory, CLFI_SENTENCE_MODULES, NULL, &modules));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < json_array_size(modules); i++)
        st = add_module(directory, json_array_get(modules, i), account);
    json_decref(modules);
    return st;
}

void clfi_directory_account_clear(clf_directory_account *account)
{
    json_decref(account->followed);
    json_decref(account->harmless);
    json_decref(account->unknown);
    *account = (clf_directory_account)CLF_DIRECTORY_ACCOUNT_INIT;
}
