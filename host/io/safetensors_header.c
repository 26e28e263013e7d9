/* SPDX-License-Identifier: MIT */
/* Reads and checks the header of one safetensors file. */
#include "io/safetensors_header.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "io/json.h"

enum { PREFIX_BYTES = 8 }; /* the header's size comes first */

/* The parts of the file. */
typedef struct header_view {
    const char *path;
    const char *text;
    size_t text_bytes;
    const uint8_t *data;
    size_t data_bytes;
    size_t data_offset;
} header_view;

static clf_status locate(const clf_file_map *map, header_view *out)
{
    const char *path = map->path;
    const uint8_t *bytes = map->data;
    const size_t size = map->size;
    if (size < PREFIX_BYTES)
        CLF_FAIL(CLF_FORMAT, "%s: expected a header size of %d bytes, found a file of %zu", path, PREFIX_BYTES, size);
    uint64_t header = 0;
    for (int i = 0; i < PREFIX_BYTES; i++)
        header |= (uint64_t)bytes[i] << 8 * i;
    if (header > CLFI_SAFETENSORS_MAX_HEADER)
        CLF_FAIL(CLF_FORMAT, "%s: header size: expected at most %d bytes, found %" PRIu64, path, CLFI_SAFETENSORS_MAX_HEADER, header);
    if (header > size - PREFIX_BYTES)
        CLF_FAIL(CLF_FORMAT, "%s: header size: expected at most the %zu bytes that follow, found %" PRIu64, path, size - PREFIX_BYTES,
                 header);
    if (header == 0 || bytes[PREFIX_BYTES] != '{')
        CLF_FAIL(CLF_FORMAT, "%s: header of %" PRIu64 " bytes: expected '{' first", path, header);
    out->path = path;
    out->text = (const char *)bytes + PREFIX_BYTES;
    out->text_bytes = (size_t)header;
    out->data_offset = PREFIX_BYTES + (size_t)header;
    out->data = bytes + out->data_offset;
    out->data_bytes = size - out->data_offset;
    return CLF_OK;
}

/* A tensor's shortest entry takes 50 bytes and three brackets, so a text with far more brackets is not a header. An empty array
 * takes 50 times its text when it is parsed, and a tensor without elements 20 times. The check refuses a file with too many brackets before
 * its parsed form takes gigabytes. */
static clf_status check_brackets(const header_view *view)
{
    size_t brackets = 0, objects = 0;
    bool in_string = false;
    for (size_t i = 0; i < view->text_bytes; i++) {
        const char c = view->text[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '['))
            brackets++, objects += c == '{';
    }
    if (objects > CLFI_SAFETENSORS_MAX_TENSORS + 2) /* the header itself and its metadata */
        CLF_FAIL(CLF_UNSUPPORTED, "%s: header: expected at most %d tensors, found %zu objects", view->path, CLFI_SAFETENSORS_MAX_TENSORS,
                 objects);
    const size_t most = view->text_bytes / 16 + 16;
    if (brackets > most)
        CLF_FAIL(CLF_FORMAT, "%s: header: expected at most %zu objects and arrays in %zu bytes, found %zu", view->path, most,
                 view->text_bytes, brackets);
    return CLF_OK;
}

static clf_status check_metadata(const header_view *view, const json_t *metadata)
{
    char found[CLFI_JSON_FOUND_BYTES];
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        CLF_FAIL(CLF_FORMAT, "%s: \"__metadata__\": expected object, found %s", view->path, clfi_json_found(metadata, found));
    json_object_foreach((json_t *)metadata, key, value)
    {
        if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value))
            CLF_FAIL(CLF_FORMAT, "%s: \"__metadata__\": \"%.200s\": expected string without U+0000, found %s", view->path, key,
                     clfi_json_found(value, found));
        const char *text = json_string_value(value);
        if (strcmp(key, "format") == 0 && (strcmp(text, "tf") == 0 || strcmp(text, "flax") == 0))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: \"__metadata__\": format \"%s\": expected \"pt\" (matrices of \"%s\" are transposed)",
                     view->path, text, text);
    }
    return CLF_OK;
}

static clf_status read_dtype(const json_t *info, const char *where, clf_file_dtype *out)
{
    static const char *const packed[] = {"F4", "F6_E2M3", "F6_E3M2"};
    const char *name;
    CLF_TRY(clfi_json_get_string(info, where, "dtype", &name));
    if (clfi_file_dtype_from_name(name, out))
        return CLF_OK;
    for (size_t i = 0; i < COUNT(packed); i++) {
        if (strcmp(name, packed[i]) == 0)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: dtype %s: elements smaller than a byte are not supported", where, name);
    }
    CLF_FAIL(CLF_FORMAT, "%s: \"dtype\": expected a type of the format such as F32 or BF16, found \"%.40s\"", where, name);
}

/* Reads element `index` of an array of non-negative integers. */
static clf_status read_element(const json_t *array, size_t index, const char *where, const char *key, int64_t *out)
{
    char found[CLFI_JSON_FOUND_BYTES];
    const json_t *value = json_array_get(array, index);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        CLF_FAIL(CLF_FORMAT, "%s: \"%s\"[%zu]: expected integer from 0, found %s", where, key, index, clfi_json_found(value, found));
    *out = json_integer_value(value);
    return CLF_OK;
}

static clf_status read_shape(const json_t *info, const char *where, clf_file_tensor *tensor)
{
    const json_t *shape;
    CLF_TRY(clfi_json_get_array(info, where, "shape", &shape));
    const size_t rank = json_array_size(shape);
    if (rank > CLFI_SAFETENSORS_MAX_RANK)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: \"shape\": expected at most %d dimensions, found %zu", where, CLFI_SAFETENSORS_MAX_RANK, rank);
    tensor->rank = (int)rank;
    for (size_t i = 0; i < rank; i++)
        CLF_TRY(read_element(shape, i, where, "shape", &tensor->dim[i]));
    if (!clfi_file_bytes(tensor->dtype, tensor->rank, tensor->dim, &tensor->bytes))
        CLF_FAIL(CLF_FORMAT, "%s: \"shape\": its size in bytes does not fit this machine", where);
    return CLF_OK;
}

static clf_status read_offsets(const json_t *info, const char *where, const header_view *view, clf_file_tensor *tensor)
{
    const json_t *offsets;
    int64_t begin, end;
    CLF_TRY(clfi_json_get_array(info, where, "data_offsets", &offsets));
    if (json_array_size(offsets) != 2)
        CLF_FAIL(CLF_FORMAT, "%s: \"data_offsets\": expected 2 integers, found %zu", where, json_array_size(offsets));
    CLF_TRY(read_element(offsets, 0, where, "data_offsets", &begin));
    CLF_TRY(read_element(offsets, 1, where, "data_offsets", &end));
    if (begin > end || (uint64_t)end > view->data_bytes)
        CLF_FAIL(CLF_FORMAT, "%s: \"data_offsets\": expected a range inside %zu bytes, found [%" PRId64 ", %" PRId64 "]", where,
                 view->data_bytes, begin, end);
    if ((size_t)(end - begin) != tensor->bytes)
        CLF_FAIL(CLF_FORMAT, "%s: \"data_offsets\": expected %zu bytes for %s and its shape, found %" PRId64, where, tensor->bytes,
                 clfi_file_dtype_name(tensor->dtype), end - begin);
    tensor->offset = view->data_offset + (size_t)begin;
    tensor->data = view->data + begin;
    return CLF_OK;
}

static clf_status read_tensor(const header_view *view, const char *name, const json_t *info, clf_file_tensor *tensor)
{
    clf_str where = CLF_STR_INIT;
    clf_status st;
    CLF_GOTO(clfi_str_appendf(&where, "%s: tensor \"%.200s\"", view->path, name));
    CLF_GOTO(read_dtype(info, where.data, &tensor->dtype));
    CLF_GOTO(read_shape(info, where.data, tensor));
    CLF_GOTO(read_offsets(info, where.data, view, tensor));
    CLF_GOTO(clfi_strdup(name, (char **)&tensor->name));
done:
    clfi_str_free(&where);
    return st;
}

static int by_offset(const void *a, const void *b)
{
    const clf_file_tensor *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* empty ones before the one that starts there */
}

/* The format's rule against hidden content: the ranges, in order, are the whole data. */
static clf_status check_coverage(const header_view *view, clf_file_tensor *tensors, size_t count)
{
    size_t end = view->data_offset;
    if (count)
        qsort(tensors, count, sizeof *tensors, by_offset);
    for (size_t i = 0; i < count; i++) {
        const clf_file_tensor *t = &tensors[i];
        if (t->offset != end)
            CLF_FAIL(CLF_FORMAT, "%s: tensor \"%.200s\": expected its data at %zu, where the one before ends, found %zu: %s", view->path,
                     t->name, end - view->data_offset, t->offset - view->data_offset, t->offset < end ? "they overlap" : "a hole");
        end += t->bytes;
    }
    const size_t covered = end - view->data_offset;
    if (covered != view->data_bytes)
        CLF_FAIL(CLF_FORMAT, "%s: expected %zu bytes of data for its tensors, found %zu", view->path, covered, view->data_bytes);
    return CLF_OK;
}

static clf_status read_entries(clf_safetensors *file, size_t shard, const header_view *view, const json_t *root)
{
    const size_t first = file->count;
    const char *name;
    json_t *info;
    json_object_foreach((json_t *)root, name, info)
    {
        if (strcmp(name, "__metadata__") == 0) {
            if (json_is_null(info))
                continue;
            CLF_TRY(check_metadata(view, info));
            continue;
        }
        clf_file_tensor tensor = {.shard = (int)shard};
        CLF_TRY(clfi_grow(&file->tensors, &file->capacity, file->count + 1, sizeof tensor, "tensor table"));
        CLF_TRY(read_tensor(view, name, info, &tensor));
        file->tensors[file->count++] = tensor;
    }
    clf_file_tensor *tensors = file->count > first ? &file->tensors[first] : NULL;
    return check_coverage(view, tensors, file->count - first);
}

clf_status clfi_safetensors_read_header(clf_safetensors *file, size_t shard)
{
    header_view view = {0};
    json_t *root = NULL;
    CLF_TRY(locate(file->shards[shard], &view));
    CLF_TRY(check_brackets(&view));
    CLF_TRY(clfi_json_parse_strict(view.text, view.text_bytes, view.path, &root));
    const clf_status st = read_entries(file, shard, &view, root);
    json_decref(root);
    return st;
}
