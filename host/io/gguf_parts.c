/* SPDX-License-Identifier: MIT */
/* Opens the parts of a split model one after another and compares their keys with those of the first. */
#include "io/gguf_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "io/gguf_file.h"
#include "io/gguf_keys.h"

/* NAME-00001-of-00005.gguf */
typedef struct split_name {
    size_t stem; /* bytes of NAME */
    int number, count;
} split_name;

enum { DIGITS = 5, ENDING = sizeof "-00001-of-00005.gguf" - 1 };

static bool read_digits(const char *text, int *out)
{
    *out = 0;
    for (int i = 0; i < DIGITS; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *out = *out * 10 + (text[i] - '0');
    }
    return true;
}

static bool read_split_name(const char *path, split_name *out)
{
    static const char of[] = "-of-", end[] = ".gguf";
    const size_t length = strlen(path);
    if (length <= ENDING)
        return false;
    const char *at = path + length - ENDING;
    out->stem = length - ENDING;
    return at[0] == '-' && read_digits(at + 1, &out->number) && strncmp(at + 1 + DIGITS, of, sizeof of - 1) == 0 &&
           read_digits(at + DIGITS + sizeof of, &out->count) && strcmp(at + ENDING - (sizeof end - 1), end) == 0;
}

bool clfi_gguf_is_split_key(const clf_gguf_value *value)
{
    const size_t length = sizeof CLFI_GGUF_SPLIT - 1;
    return value->key.length > length && memcmp(value->key.data, CLFI_GGUF_SPLIT, length) == 0;
}

/* Checks by name and key that `path` is the first of `count` parts. */
static clf_status check_first(const clf_gguf *file, const char *path, int count, split_name *out)
{
    int64_t number;
    const bool is_named = read_split_name(path, out);
    CLF_TRY(clfi_gguf_get_int(file, CLFI_GGUF_SPLIT_NUMBER, 0, count - 1, &number));
    if (number != 0 && is_named)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: part %d of %d of a model (open the first part, %.*s-00001-of-%05d.gguf)", path, (int)number + 1,
                 count, (int)out->stem, path, out->count);
    if (number != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: part %d of %d of a model (open the first part)", path, (int)number + 1, count);
    if (!is_named || out->number != 1 || out->count != count)
        CLF_FAIL(CLF_FORMAT,
                 "%s: the first of %d parts of a model: expected a name that ends with -00001-of-%05d.gguf, by which the others are found "
                 "(rename the files to their original names)",
                 path, count, count);
    return CLF_OK;
}

static bool are_equal(const clf_gguf_value *a, const clf_gguf_value *b)
{
    if (a->type != b->type || a->element != b->element || a->count != b->count)
        return false;
    const size_t bytes = clfi_gguf_value_bytes(a);
    return bytes == clfi_gguf_value_bytes(b) && memcmp(a->data, b->data, bytes) == 0;
}

/* A later part has its own number and perhaps some keys of the first part, with equal values. Any other key shows that it belongs to
 * another model. */
static clf_status check_keys(const clf_gguf *first, const clf_gguf *part, int index, int count)
{
    const char *path = part->map->path;
    int64_t number, parts, tensors, all;
    CLF_TRY(clfi_gguf_get_int(part, CLFI_GGUF_SPLIT_COUNT, 0, UINT16_MAX, &parts));
    CLF_TRY(clfi_gguf_get_int(part, CLFI_GGUF_SPLIT_NUMBER, 0, UINT16_MAX, &number));
    CLF_TRY(clfi_gguf_get_int(part, CLFI_GGUF_SPLIT_TENSORS, 0, INT32_MAX, &tensors));
    CLF_TRY(clfi_gguf_get_int(first, CLFI_GGUF_SPLIT_TENSORS, 0, INT32_MAX, &all));
    if (parts != count || number != index)
        CLF_FAIL(CLF_FORMAT, "%s: expected part %d of %d, its keys say part %lld of %lld", path, index + 1, count, (long long)number + 1,
                 (long long)parts);
    if (tensors != all)
        CLF_FAIL(CLF_FORMAT, "%s belongs to a model of %lld tensors, %s to one of %lld: parts of different models", path,
                 (long long)tensors, first->map->path, (long long)all);
    for (size_t i = 0; i < part->value_count; i++) {
        const clf_gguf_value *value = &part->values[i];
        char key[128];
        snprintf(key, sizeof key, "%.*s", (int)(value->key.length < sizeof key ? value->key.length : sizeof key - 1), value->key.data);
        if (clfi_gguf_is_split_key(value) || strcmp(key, CLFI_GGUF_ALIGNMENT) == 0)
            continue;
        const clf_gguf_value *own = clfi_gguf_value_like(first, value);
        if (!own || !are_equal(own, value))
            CLF_FAIL(CLF_FORMAT, "%s: \"%s\" %s %s: parts of different models", path, key, own ? "differs from" : "is missing in",
                     first->map->path);
    }
    return CLF_OK;
}

/* Moves the part's tensors and its map to `file`; the caller still closes the part. */
static clf_status take_over(clf_gguf *file, clf_gguf *part, int index)
{
    CLF_TRY(clfi_grow(&file->tensors, &file->capacity, file->count + part->count, sizeof *file->tensors, "tensor table"));
    for (size_t i = 0; i < part->count; i++) {
        file->tensors[file->count] = part->tensors[i];
        file->tensors[file->count++].part = index;
    }
    part->count = 0; /* `file` owns the names now */
    file->others[index - 1] = part->map;
    file->other_count++;
    part->map = NULL;
    return CLF_OK;
}

static clf_status join_part(clf_gguf *file, const char *path, int index, int count)
{
    clf_gguf *part;
    bool exists;
    CLF_TRY(clfi_file_exists(path, &exists));
    if (!exists)
        CLF_FAIL(CLF_NOT_FOUND, "%s: no such file: part %d of %d of the model in %s (all parts lie in one folder)", path, index + 1, count,
                 file->map->path);
    CLF_TRY(clfi_gguf_open_part(path, &part));
    clf_status st = check_keys(file, part, index, count);
    if (st == CLF_OK)
        st = take_over(file, part, index);
    clfi_gguf_close(part);
    return st;
}

static clf_status join_all(clf_gguf *file, const split_name *name, int count)
{
    int64_t tensors;
    CLF_TRY(clfi_gguf_get_int(file, CLFI_GGUF_SPLIT_TENSORS, 0, INT32_MAX, &tensors));
    CLF_TRY(clfi_alloc((size_t)count - 1, sizeof *file->others, "parts of a model", &file->others));
    for (int i = 1; i < count; i++) {
        clf_str path = CLF_STR_INIT;
        clf_status st = clfi_str_appendf(&path, "%.*s-%05d-of-%05d.gguf", (int)name->stem, file->map->path, i + 1, count);
        if (st == CLF_OK)
            st = join_part(file, clfi_str_text(&path), i, count);
        clfi_str_free(&path);
        if (st != CLF_OK)
            return st;
    }
    if ((size_t)tensors != file->count)
        CLF_FAIL(CLF_FORMAT, "%s: \"" CLFI_GGUF_SPLIT_TENSORS "\": expected %zu, the number of tensors in all %d parts, found %lld",
                 file->map->path, file->count, count, (long long)tensors);
    return clfi_gguf_index_names(file);
}

clf_status clfi_gguf_join_parts(clf_gguf *file)
{
    split_name name = {0};
    int64_t count;
    CLF_TRY(clfi_gguf_opt_int(file, CLFI_GGUF_SPLIT_COUNT, 0, UINT16_MAX, 0, &count));
    if (count < 2)
        return CLF_OK;
    CLF_TRY(check_first(file, file->map->path, (int)count, &name));
    return join_all(file, &name, (int)count);
}
