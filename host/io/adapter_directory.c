/* SPDX-License-Identifier: MIT */
/* Finds the model that a directory of an adapter belongs to. */
#include "io/adapter_directory.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/json.h"

static clf_status has_file(const char *directory, const char *name, bool *out)
{
    char *path;
    CLF_TRY(clfi_file_find(directory, name, &path));
    *out = path != NULL;
    free(path);
    return CLF_OK;
}

static clf_status has_weights(const char *directory, bool *out)
{
    CLF_TRY(has_file(directory, "model.safetensors", out));
    return *out ? CLF_OK : has_file(directory, "model.safetensors.index.json", out);
}

clf_status clfi_adapter_place(const char *directory, const char *const *files, size_t count, char **out)
{
    bool is_there = false;
    char *base = NULL;
    for (size_t i = 0; i < count && !is_there; i++)
        CLF_TRY(has_file(directory, files[i], &is_there));
    if (!is_there)
        CLF_TRY(clfi_adapter_base(directory, &base));
    if (!base)
        return clfi_strdup(directory, out);
    *out = base;
    return CLF_OK;
}

/* The first of the two paths that is a directory. */
static clf_status resolve(const char *directory, const char *path, const char *name, char **out)
{
    bool exists, has_adapter = false;
    char *made;
    CLF_TRY(clfi_strdup(name, &made));
    clf_status st = clfi_directory_exists(made, &exists);
    if (st == CLF_OK && !exists && name[0] != '/') {
        free(made);
        made = NULL;
        CLF_TRY(clfi_path_join(directory, name, &made));
        st = clfi_directory_exists(made, &exists);
    }
    if (st == CLF_OK && !exists)
        st = clfi_fail(CLF_NOT_FOUND,
                       "%s: base_model_name_or_path: no such directory \"%s\" (download that model and set the key to its directory)", path,
                       name);
    if (st == CLF_OK)
        st = has_file(made, CLFI_ADAPTER_CONFIG, &has_adapter);
    if (st == CLF_OK && has_adapter)
        st = clfi_fail(CLF_UNSUPPORTED, "%s: base_model_name_or_path: %s is itself a model with an adapter (merge that one first)", path,
                       made);
    if (st != CLF_OK) {
        free(made);
        return st;
    }
    *out = made;
    return CLF_OK;
}

clf_status clfi_adapter_base(const char *directory, char **out)
{
    char *path = NULL;
    json_t *config = NULL;
    const char *name;
    bool is_directory, is_whole;
    *out = NULL;
    CLF_TRY(clfi_directory_exists(directory, &is_directory));
    if (!is_directory)
        return CLF_OK;
    CLF_TRY(has_weights(directory, &is_whole));
    if (is_whole)
        return CLF_OK;
    CLF_TRY(clfi_json_read_in(directory, CLFI_ADAPTER_CONFIG, &path, &config));
    clf_status st = CLF_OK;
    if (config)
        st = clfi_json_get_string(config, path, "base_model_name_or_path", &name);
    if (config && st == CLF_OK)
        st = resolve(directory, path, name, out);
    json_decref(config);
    free(path);
    return st;
}
