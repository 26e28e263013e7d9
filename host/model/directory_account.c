/* SPDX-License-Identifier: MIT */
/* The account of files and keys. */
#include "model/directory_account.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/json.h"
#include "model/directory_rows.h"

static const clf_account_row rows[] = {
#define X(file, key, verdict, reason) {file, key, CLF_ACCOUNT_##verdict, reason},
    CLFI_ACCOUNT_ROWS(X)
#undef X
};

const clf_account_row *clfi_account_rows(size_t *count)
{
    *count = COUNT(rows);
    return rows;
}

const clf_account_row *clfi_account_find(const char *file, const char *key)
{
    const clf_account_row *every = NULL;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!rows[i].key[0] || strcmp(rows[i].file, file) != 0)
            continue;
        if (strcmp(rows[i].key, key) == 0)
            return &rows[i];
        if (strcmp(rows[i].key, "*") == 0)
            every = &rows[i];
    }
    return every;
}

const clf_account_row *clfi_account_file(const char *name)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!rows[i].key[0] && fnmatch(rows[i].file, name, 0) == 0)
            return &rows[i];
    return NULL;
}

bool clfi_account_is_set(const json_t *value)
{
    return value && !json_is_null(value) && !json_is_false(value) && !(json_is_object(value) && json_object_size(value) == 0) &&
           !(json_is_array(value) && json_array_size(value) == 0);
}

clf_status clfi_account_check(const json_t *object, const char *file, const char *where)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const clf_account_row *row = clfi_account_find(file, key);
        if (!row || row->verdict != CLF_ACCOUNT_REFUSED || !clfi_account_is_set(value))
            continue;
        const char *method = json_string_value(json_object_get(value, "quant_method"));
        if (method)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: quant_method \"%s\": %s", where, key, method, row->reason);
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: %s", where, key, row->reason);
    }
    return CLF_OK;
}

clf_status clfi_account_append(json_t **list, const char *where, const char *key)
{
    if (!*list)
        *list = json_array();
    if (!*list || json_array_append_new(*list, json_sprintf("%s: %s", where, key)) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "account of keys: not enough memory");
    return CLF_OK;
}

clf_status clfi_account_add(const json_t *object, const char *file, const char *where, const json_t *seen, clf_directory_account *account)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const clf_account_row *row = clfi_account_find(file, key);
        const bool is_harmless = row && row->verdict == CLF_ACCOUNT_HARMLESS;
        if (json_object_get(seen, key) || (row && row->verdict == CLF_ACCOUNT_FOLLOWED))
            CLF_TRY(clfi_account_append(&account->followed, where, key));
        else if (is_harmless || !clfi_account_is_set(value))
            CLF_TRY(clfi_account_append(&account->harmless, where, key));
        else
            CLF_TRY(clfi_account_append(&account->unknown, where, key));
    }
    return CLF_OK;
}

/* A module's config.json; some have none. The class is the last part of the module's type. */
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
    CLF_GOTO(clfi_account_add(json, file, where, NULL, account));
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
        CLF_TRY(clfi_account_add(object, file, where, NULL, account));
    }
    return CLF_OK;
}

static clf_status add_settings(const char *directory, clf_directory_account *account)
{
    char *network;
    const char *name;
    json_t *settings;
    CLF_TRY(clfi_network_directory(directory, &network));
    clf_status st = clfi_transformer_settings_read(network, &settings, &name);
    if (st == CLF_OK)
        st = clfi_account_add(settings, CLFI_TRANSFORMER_SETTINGS, name, NULL, account);
    if (st == CLF_OK && settings)
        st = add_arguments(settings, name, account);
    json_decref(settings);
    free(network);
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
