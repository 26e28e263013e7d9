/* SPDX-License-Identifier: MIT */
/* generation_config.json. */
#include "model/generation_config.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/json.h"

enum { LIMIT_BYTES = 16 << 20 };

/* The JSON file of the directory; *out NULL: there is none. */
static clf_status read_file(const char *directory, const char *name, json_t **out)
{
    char *path;
    bool is_there;
    *out = NULL;
    if (!clfi_directory_exists(directory))
        return CLF_OK;
    CLF_TRY(clfi_path_join(directory, name, &path));
    clf_status st = clfi_file_exists(path, &is_there);
    if (st == CLF_OK && is_there)
        st = clfi_json_read(path, LIMIT_BYTES, out);
    free(path);
    return st;
}

static clf_status read_list(const json_t *value, const char *where, int32_t **out, size_t *out_count)
{
    const size_t count = json_is_array(value) ? json_array_size(value) : 1;
    int32_t *ids;
    CLF_TRY(clfi_alloc(count, sizeof *ids, "eos_token_id", &ids));
    for (size_t i = 0; i < count; i++) {
        const json_t *id = json_is_array(value) ? json_array_get(value, i) : value;
        if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) > INT32_MAX) {
            free(ids);
            CLF_FAIL(CLF_FORMAT, "%s: eos_token_id: expected a token id or a list of them", where);
        }
        ids[i] = (int32_t)json_integer_value(id);
    }
    *out = ids;
    *out_count = count;
    return CLF_OK;
}

clf_status clfi_generation_read_ends(const char *path, const json_t *config, int32_t **out, size_t *out_count)
{
    static const char key[] = "eos_token_id", file[] = "generation_config.json";
    json_t *generation;
    CLF_TRY(read_file(path, file, &generation));
    const json_t *value = json_object_get(generation, key);
    const bool is_there = value && !json_is_null(value);
    clf_status st = CLF_OK;
    if (!is_there)
        value = json_object_get(config, key);
    *out = NULL;
    *out_count = 0;
    if (value && !json_is_null(value))
        st = read_list(value, is_there ? file : "config.json", out, out_count);
    json_decref(generation);
    return st;
}
