/* SPDX-License-Identifier: MIT */
/* Reads special_tokens_map.json and added_tokens.json. */
#include "text/tokenizer_older.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/json.h"
#include "text/tokenizer_files.h"
#include "text/tokenizer_parts.h"

enum { ID_BYTES = 24 };

static clf_status out_of_memory(const char *path)
{
    CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: not enough memory", path);
}

/* *out NULL: no such file. *out_path: its path, which the caller frees. */
static clf_status read_object(const char *directory, const char *name, json_t **out, char **out_path)
{
    char found[CLFI_JSON_FOUND_BYTES];
    CLF_TRY(clfi_json_read_in(directory, name, out_path, out));
    if (*out && !json_is_object(*out))
        CLF_FAIL(CLF_FORMAT, "%s: expected an object, found %s", *out_path, clfi_json_found(*out, found));
    return CLF_OK;
}

/* Every token of special_tokens_map.json is special, even if the file says otherwise. */
static clf_status merge_specials(json_t *map, const char *path, json_t *config)
{
    const char *key;
    json_t *value;
    json_object_foreach(map, key, value)
    {
        if (json_is_object(value) && clfi_named_content(value) && json_object_set_new(value, "special", json_true()) != 0)
            return out_of_memory(path);
        if (json_object_set(config, key, value) != 0)
            return out_of_memory(path);
    }
    return CLF_OK;
}

static bool is_listed(const json_t *list, const char *content)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *one = clfi_named_content(json_array_get(list, i));
        if (one && strcmp(one, content) == 0)
            return true;
    }
    return false;
}

static bool is_special(const json_t *config, const char *content)
{
    return clfi_named_is_role(config, content) || is_listed(json_object_get(config, "additional_special_tokens"), content) ||
           is_listed(json_object_get(config, "extra_special_tokens"), content);
}

/* Turns {"token": id} into {"id": {"content": token, ...}}. */
static clf_status merge_added(const json_t *added, const char *path, json_t *config)
{
    const char *content;
    json_t *value, *decoder = json_object();
    if (!decoder || json_object_set_new(config, "added_tokens_decoder", decoder) != 0)
        return out_of_memory(path);
    json_object_foreach((json_t *)added, content, value)
    {
        char id[ID_BYTES], found[CLFI_JSON_FOUND_BYTES];
        const int special = is_special(config, content);
        if (!json_is_integer(value))
            CLF_FAIL(CLF_FORMAT, "%s: \"%s\": expected a token id, found %s", path, content, clfi_json_found(value, found));
        snprintf(id, sizeof id, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        if (json_object_set_new(decoder, id,
                                json_pack("{s:s, s:b, s:b}", "content", content, "special", special, "normalized", !special)) != 0)
            return out_of_memory(path);
    }
    return CLF_OK;
}

clf_status clfi_tokenizer_read_older(const char *directory, json_t **config, char **out_path)
{
    clf_status st;
    json_t *map = NULL, *added = NULL;
    char *map_path = NULL, *added_path = NULL;
    if (json_is_object(json_object_get(*config, "added_tokens_decoder")))
        return CLF_OK;
    CLF_GOTO(read_object(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_SPECIALS], &map, &map_path));
    CLF_GOTO(read_object(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_ADDED], &added, &added_path));
    if ((map || added) && !*config) {
        char **made_of = map ? &map_path : &added_path;
        *config = json_object();
        CLF_GOTO(*config ? clfi_strdup(*made_of, out_path) : out_of_memory(*made_of));
    }
    if (map)
        CLF_GOTO(merge_specials(map, map_path, *config));
    if (added)
        CLF_GOTO(merge_added(added, added_path, *config));
    st = CLF_OK;
done:
    json_decref(map);
    json_decref(added);
    free(map_path);
    free(added_path);
    return st;
}
