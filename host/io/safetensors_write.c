/* SPDX-License-Identifier: MIT */
/* Writes safetensors files. */
#include "io/safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

enum { ALIGNMENT = 8 };

static int by_dtype_then_name(const void *a, const void *b)
{
    const clf_file_tensor *x = *(const clf_file_tensor *const *)a, *y = *(const clf_file_tensor *const *)b;
    if (x->dtype != y->dtype)
        return x->dtype > y->dtype ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    const clf_file_tensor *x = *(const clf_file_tensor *const *)a, *y = *(const clf_file_tensor *const *)b;
    return strcmp(x->name, y->name);
}

static clf_status check_tensors(const char *path, const clf_file_tensor **sorted, size_t count)
{
    if (count)
        qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 0; i < count; i++) {
        const clf_file_tensor *t = sorted[i];
        size_t bytes;
        if (strcmp(t->name, "__metadata__") == 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: tensor name \"__metadata__\" is reserved", path);
        if (i > 0 && strcmp(t->name, sorted[i - 1]->name) == 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: tensor name \"%.200s\" is used twice", path, t->name);
        if (t->rank < 0 || t->rank > CLFI_SAFETENSORS_MAX_RANK || !clfi_file_bytes(t->dtype, t->rank, t->dim, &bytes))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: tensor \"%.200s\": rank %d or its dimensions are out of range", path, t->name,
                     t->rank);
    }
    return CLF_OK;
}

/* Appends a JSON value as text. */
static clf_status append_json(clf_str *header, const char *path, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
    if (!text)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: a name or a metadata text is not UTF-8", path);
    const clf_status st = clfi_str_append_text(header, text);
    free(text);
    return st;
}

static clf_status append_name(clf_str *header, const char *path, const char *name)
{
    json_t *value = json_string(name);
    const clf_status st = append_json(header, path, value);
    json_decref(value);
    return st;
}

static clf_status append_entry(clf_str *header, const char *path, const clf_file_tensor *t, size_t *end)
{
    size_t bytes = 0;
    clfi_file_bytes(t->dtype, t->rank, t->dim, &bytes); /* checked before */
    CLF_TRY(append_name(header, path, t->name));
    CLF_TRY(clfi_str_appendf(header, ":{\"dtype\":\"%s\",\"shape\":[", clfi_file_dtype_name(t->dtype)));
    for (int i = 0; i < t->rank; i++)
        CLF_TRY(clfi_str_appendf(header, "%s%" PRId64, i ? "," : "", t->dim[i]));
    const size_t begin = *end;
    if (!clfi_add_size(begin, bytes, end))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: tensor \"%.200s\": the file's size does not fit", path, t->name);
    return clfi_str_appendf(header, "],\"data_offsets\":[%zu,%zu]}", begin, *end);
}

static clf_status check_metadata(const char *path, const json_t *metadata)
{
    const char *key;
    json_t *value;
    if (metadata && !json_is_object(metadata))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: metadata is no object", path);
    json_object_foreach ((json_t *)metadata, key, value) {
        if (!json_is_string(value))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: metadata \"%.200s\" is no string", path, key);
    }
    return CLF_OK;
}

static clf_status build_header(clf_str *header, const char *path, const clf_file_tensor **sorted, size_t count, const json_t *metadata)
{
    size_t end = 0;
    CLF_TRY(clfi_str_append_char(header, '{'));
    if (metadata) {
        CLF_TRY(clfi_str_append_text(header, "\"__metadata__\":"));
        CLF_TRY(append_json(header, path, metadata));
    }
    for (size_t i = 0; i < count; i++) {
        if (header->length > 1)
            CLF_TRY(clfi_str_append_char(header, ','));
        CLF_TRY(append_entry(header, path, sorted[i], &end));
    }
    CLF_TRY(clfi_str_append_char(header, '}'));
    while (header->length % ALIGNMENT)
        CLF_TRY(clfi_str_append_char(header, ' '));
    if (header->length > CLFI_SAFETENSORS_MAX_HEADER)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: header: expected at most %d bytes, found %zu", path, CLFI_SAFETENSORS_MAX_HEADER,
                 header->length);
    return CLF_OK;
}

static clf_status write_file(const char *path, const clf_str *header, const clf_file_tensor **sorted, size_t count)
{
    clf_atomic_file file;
    unsigned char size[8];
    CLF_TRY(clfi_atomic_open(path, &file));
    for (size_t i = 0; i < sizeof size; i++)
        size[i] = (unsigned char)((uint64_t)header->length >> 8 * i);
    clfi_atomic_write(&file, size, sizeof size);
    clfi_atomic_write(&file, header->data, header->length);
    for (size_t i = 0; i < count; i++) {
        size_t bytes = 0;
        clfi_file_bytes(sorted[i]->dtype, sorted[i]->rank, sorted[i]->dim, &bytes);
        clfi_atomic_write(&file, sorted[i]->data, bytes);
    }
    return clfi_atomic_commit(&file);
}

clf_status clfi_safetensors_write(const char *path, const clf_file_tensor *tensors, size_t count, const json_t *metadata)
{
    clf_status st;
    clf_str header = CLF_STR_INIT;
    const clf_file_tensor **sorted;
    CLF_TRY(clfi_alloc(count, sizeof *sorted, "tensor order", &sorted));
    for (size_t i = 0; i < count; i++)
        sorted[i] = &tensors[i];
    CLF_GOTO(check_tensors(path, sorted, count));
    CLF_GOTO(check_metadata(path, metadata));
    if (count)
        qsort(sorted, count, sizeof *sorted, by_dtype_then_name);
    CLF_GOTO(build_header(&header, path, sorted, count, metadata));
    CLF_GOTO(write_file(path, &header, sorted, count));
done:
    clfi_str_free(&header);
    free(sorted);
    return st;
}
