/* SPDX-License-Identifier: MIT */
/* Opened GGUF files: ownership, lookup, and values that must be there. */
#include "io/gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/gguf_file.h"
#include "io/gguf_parts.h"

/* Takes over the reference to `map`, also on failure. */
static clf_status open_map(clf_file_map *map, clf_gguf **out)
{
    clf_gguf *file;
    clf_status st = clfi_alloc(1, sizeof *file, "GGUF file", &file);
    if (st != CLF_OK) {
        clfi_file_map_release(map);
        return st;
    }
    file->map = map;
    st = clfi_gguf_read_header(file);
    if (st == CLF_OK)
        *out = file;
    else
        clfi_gguf_close(file);
    return st;
}

clf_status clfi_gguf_open_part(const char *path, clf_gguf **out)
{
    clf_file_map *map;
    CLF_TRY(clfi_file_map(path, &map));
    return open_map(map, out);
}

clf_status clfi_gguf_open(const char *path, clf_gguf **out)
{
    clf_gguf *file;
    CLF_TRY(clfi_gguf_open_part(path, &file));
    const clf_status st = clfi_gguf_join_parts(file);
    if (st == CLF_OK)
        *out = file;
    else
        clfi_gguf_close(file);
    return st;
}

clf_status clfi_gguf_parse(const void *data, size_t size, const char *name, clf_gguf **out)
{
    clf_file_map *map;
    clf_gguf *file;
    int64_t parts = 0;
    CLF_TRY(clfi_file_map_borrow(data, size, name, &map));
    CLF_TRY(open_map(map, &file));
    clf_status st = clfi_gguf_opt_int(file, CLFI_GGUF_SPLIT_COUNT, 0, UINT16_MAX, 0, &parts);
    if (st == CLF_OK && parts > 1)
        st = clfi_fail(CLF_UNSUPPORTED, "%s: \"" CLFI_GGUF_SPLIT_COUNT "\": one of %lld parts of a model: expected a whole model", name,
                       (long long)parts);
    if (st == CLF_OK)
        *out = file;
    else
        clfi_gguf_close(file);
    return st;
}

void clfi_gguf_close(clf_gguf *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->count; i++)
        free((char *)file->tensors[i].name);
    free(file->tensors);
    free(file->by_name);
    free(file->values);
    for (size_t i = 0; i < file->other_count; i++)
        clfi_file_map_release(file->others[i]);
    free(file->others);
    clfi_file_map_release(file->map);
    free(file);
}

const char *clfi_gguf_path(const clf_gguf *file)
{
    return file->map->path;
}

size_t clfi_gguf_part_count(const clf_gguf *file)
{
    return 1 + file->other_count;
}

clf_file_map *clfi_gguf_part_map(const clf_gguf *file, int part)
{
    return part == 0 ? file->map : file->others[part - 1];
}

const char *clfi_gguf_part_path(const clf_gguf *file, int part)
{
    return clfi_gguf_part_map(file, part)->path;
}

size_t clfi_gguf_count(const clf_gguf *file)
{
    return file->count;
}

const clf_gguf_tensor *clfi_gguf_at(const clf_gguf *file, size_t index)
{
    return index < file->count ? &file->tensors[index] : NULL;
}

static int name_against(const void *name, const void *tensor)
{
    return strcmp(name, (*(const clf_gguf_tensor *const *)tensor)->name);
}

const clf_gguf_tensor *clfi_gguf_find(const clf_gguf *file, const char *name)
{
    const clf_gguf_tensor *const *found =
        file->count ? bsearch(name, file->by_name, file->count, sizeof *file->by_name, name_against) : NULL;
    return found ? *found : NULL;
}

size_t clfi_gguf_value_count(const clf_gguf *file)
{
    return file->value_count;
}

const clf_gguf_value *clfi_gguf_value_at(const clf_gguf *file, size_t index)
{
    return index < file->value_count ? &file->values[index] : NULL;
}

static const clf_gguf_value *find_value(const clf_gguf *file, const char *key, size_t length)
{
    size_t low = 0, high = file->value_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const clf_gguf_string found = file->values[middle].key;
        int order = memcmp(found.data, key, found.length < length ? found.length : length);
        if (order == 0)
            order = (found.length > length) - (found.length < length);
        if (order == 0)
            return &file->values[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const clf_gguf_value *clfi_gguf_value(const clf_gguf *file, const char *key)
{
    return find_value(file, key, strlen(key));
}

const clf_gguf_value *clfi_gguf_value_like(const clf_gguf *file, const clf_gguf_value *value)
{
    return find_value(file, value->key.data, value->key.length);
}

/* A scalar of another kind or range: what the file has instead. */
static clf_status fail_value(const clf_gguf *file, const char *key, const char *expected, const clf_gguf_value *value)
{
    clf_gguf_string text;
    double number;
    if (!value)
        CLF_FAIL(CLF_FORMAT, "%s: \"%s\": expected %s, found nothing", file->map->path, key, expected);
    if (value->type != CLF_GGUF_ARRAY && clfi_gguf_number(value, 0, &number))
        CLF_FAIL(CLF_FORMAT, "%s: \"%s\": expected %s, found %s %.17g", file->map->path, key, expected, clfi_gguf_type_name(value->type),
                 number);
    if (value->type != CLF_GGUF_ARRAY && clfi_gguf_text(value, &text))
        CLF_FAIL(CLF_FORMAT, "%s: \"%s\": expected %s, found string \"%.*s\"", file->map->path, key, expected,
                 (int)(text.length < 60 ? text.length : 60), text.data);
    CLF_FAIL(CLF_FORMAT, "%s: \"%s\": expected %s, found %s of %zu %s", file->map->path, key, expected, clfi_gguf_type_name(value->type),
             value->count, clfi_gguf_type_name(value->element));
}

clf_status clfi_gguf_get_int(const clf_gguf *file, const char *key, int64_t least, int64_t most, int64_t *out)
{
    const clf_gguf_value *value = clfi_gguf_value(file, key);
    char expected[96];
    int64_t found;
    if (value && value->type != CLF_GGUF_ARRAY && value->type != CLF_GGUF_BOOL && clfi_gguf_int(value, 0, &found) && found >= least &&
        found <= most) {
        *out = found;
        return CLF_OK;
    }
    snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)least, (long long)most);
    return fail_value(file, key, expected, value);
}

clf_status clfi_gguf_opt_int(const clf_gguf *file, const char *key, int64_t least, int64_t most, int64_t standard, int64_t *out)
{
    if (clfi_gguf_value(file, key))
        return clfi_gguf_get_int(file, key, least, most, out);
    *out = standard;
    return CLF_OK;
}

clf_status clfi_gguf_get_number(const clf_gguf *file, const char *key, double least, double most, double *out)
{
    const clf_gguf_value *value = clfi_gguf_value(file, key);
    char expected[96];
    double found;
    if (value && value->type != CLF_GGUF_ARRAY && value->type != CLF_GGUF_BOOL && clfi_gguf_number(value, 0, &found) && found >= least &&
        found <= most) {
        *out = found;
        return CLF_OK;
    }
    snprintf(expected, sizeof expected, "a number from %g to %g", least, most);
    return fail_value(file, key, expected, value);
}

clf_status clfi_gguf_opt_bool(const clf_gguf *file, const char *key, bool standard, bool *out)
{
    const clf_gguf_value *value = clfi_gguf_value(file, key);
    *out = standard;
    if (!value)
        return CLF_OK;
    if (value->type != CLF_GGUF_BOOL)
        return fail_value(file, key, "a bool", value);
    *out = value->data[0] != 0;
    return CLF_OK;
}

clf_status clfi_gguf_get_text(const clf_gguf *file, const char *key, clf_gguf_string *out)
{
    const clf_gguf_value *value = clfi_gguf_value(file, key);
    clf_gguf_string found;
    if (!value || !clfi_gguf_text(value, &found) || memchr(found.data, 0, found.length))
        return fail_value(file, key, "a string without U+0000", value);
    *out = found;
    return CLF_OK;
}

void clfi_gguf_forget(const clf_gguf *file, const clf_gguf_tensor *tensor)
{
    clfi_file_map_forget(clfi_gguf_part_map(file, tensor->part), tensor->offset, tensor->bytes);
}
