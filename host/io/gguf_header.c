/* SPDX-License-Identifier: MIT */
/* Reads and checks the header of a GGUF file: metadata and the descriptions of tensors. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "io/gguf_file.h"
#include "io/gguf_file_type.h"
#include "io/gguf_keys.h"

/* The mapped file and the position of the next read. */
typedef struct reader {
    const char *path;
    const uint8_t *data;
    size_t size, at;
} reader;

/* Takes the next `bytes` bytes. `what` names them in the message. */
static clf_status take(reader *r, const char *what, uint64_t bytes, const uint8_t **out)
{
    if (bytes > r->size - r->at)
        CLF_FAIL(CLF_FORMAT, "%s: %s at byte %zu: expected %" PRIu64 " bytes, the file has %zu left", r->path, what, r->at, bytes,
                 r->size - r->at);
    *out = r->data + r->at;
    r->at += (size_t)bytes;
    return CLF_OK;
}

static clf_status take_number(reader *r, const char *what, size_t bytes, uint64_t *out)
{
    const uint8_t *from = NULL;
    CLF_TRY(take(r, what, bytes, &from));
    *out = clfi_gguf_load(from, bytes);
    return CLF_OK;
}

static clf_status take_string(reader *r, const char *what, uint64_t most, clf_gguf_string *out)
{
    const uint8_t *from = NULL;
    uint64_t length = 0;
    CLF_TRY(take_number(r, what, 8, &length));
    if (length > most)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected at most %" PRIu64 " bytes, found %" PRIu64, r->path, what, most, length);
    CLF_TRY(take(r, what, length, &from));
    *out = (clf_gguf_string){(const char *)from, (size_t)length};
    return CLF_OK;
}

/* Takes a count of things that have at least `least` bytes each, which the rest of the file must be able to hold. */
static clf_status take_count(reader *r, const char *what, size_t least, size_t *out)
{
    uint64_t count = 0;
    CLF_TRY(take_number(r, what, 8, &count));
    if (count > (r->size - r->at) / least)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected at most %zu in the %zu bytes that follow, found %" PRIu64, r->path, what,
                 (r->size - r->at) / least, r->size - r->at, count);
    *out = (size_t)count;
    return CLF_OK;
}

static clf_status check_start(reader *r)
{
    const uint8_t *magic = NULL;
    uint64_t version = 0;
    CLF_TRY(take(r, "magic", 4, &magic));
    if (memcmp(magic, "GGUF", 4) != 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected a file that begins with \"GGUF\", found bytes %02x %02x %02x %02x", r->path, magic[0], magic[1],
                 magic[2], magic[3]);
    CLF_TRY(take_number(r, "version", 4, &version));
    if (version >> 24 != 0 && (version & 0xffffff) == 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: a big-endian GGUF file: expected little-endian", r->path);
    if (version != 2 && version != 3)
        CLF_FAIL(version == 1 ? CLF_UNSUPPORTED : CLF_FORMAT, "%s: GGUF version: expected 2 or 3, found %" PRIu64, r->path, version);
    return CLF_OK;
}

static clf_status take_type(reader *r, const char *what, clf_gguf_type *out)
{
    uint64_t number = 0;
    CLF_TRY(take_number(r, what, 4, &number));
    if (number >= CLF_GGUF_TYPE_COUNT)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected a type below %d, found %" PRIu64, r->path, what, CLF_GGUF_TYPE_COUNT, number);
    *out = (clf_gguf_type)number;
    return CLF_OK;
}

/* Refuses bools other than 0 and 1: programs disagree on their meaning. */
static clf_status check_bools(const reader *r, const char *what, const uint8_t *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (data[i] > 1)
            CLF_FAIL(CLF_FORMAT, "%s: %s: expected a bool of 0 or 1, found %d", r->path, what, data[i]);
    return CLF_OK;
}

static clf_status take_elements(reader *r, const char *what, clf_gguf_value *value)
{
    const size_t bytes = clfi_gguf_type_bytes(value->element);
    const uint8_t *from = NULL;
    value->data = r->data + r->at;
    if (value->element == CLF_GGUF_STRING) {
        clf_gguf_string ignored;
        for (size_t i = 0; i < value->count; i++)
            CLF_TRY(take_string(r, what, UINT64_MAX, &ignored));
        return CLF_OK;
    }
    CLF_TRY(take(r, what, (uint64_t)bytes * value->count, &from)); /* take_count checked the count, so this cannot wrap */
    return value->element == CLF_GGUF_BOOL ? check_bools(r, what, from, value->count) : CLF_OK;
}

static clf_status take_value(reader *r, clf_gguf_value *value)
{
    char what[160];
    CLF_TRY(take_string(r, "metadata key", CLFI_GGUF_MAX_KEY, &value->key));
    if (value->key.length == 0 || memchr(value->key.data, 0, value->key.length) ||
        clfi_utf8_check((const unsigned char *)value->key.data, value->key.length) != value->key.length)
        CLF_FAIL(CLF_FORMAT, "%s: metadata key of %zu bytes: expected UTF-8 without U+0000", r->path, value->key.length);
    snprintf(what, sizeof what, "\"%.*s\"", (int)(value->key.length < 128 ? value->key.length : 128), value->key.data);
    CLF_TRY(take_type(r, what, &value->type));
    value->element = value->type;
    value->count = 1;
    if (value->type == CLF_GGUF_ARRAY) {
        CLF_TRY(take_type(r, what, &value->element));
        if (value->element == CLF_GGUF_ARRAY)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: arrays of arrays are not supported", r->path, what);
        const size_t bytes = clfi_gguf_type_bytes(value->element);
        CLF_TRY(take_count(r, what, bytes ? bytes : 8, &value->count));
    }
    return take_elements(r, what, value);
}

static int compare_strings(clf_gguf_string a, clf_gguf_string b)
{
    const int order = memcmp(a.data, b.data, a.length < b.length ? a.length : b.length);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int by_key(const void *a, const void *b)
{
    return compare_strings(((const clf_gguf_value *)a)->key, ((const clf_gguf_value *)b)->key);
}

static clf_status read_values(reader *r, clf_gguf *file, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        clf_gguf_value value = {.count = 0};
        CLF_TRY(take_value(r, &value));
        CLF_TRY(clfi_grow(&file->values, &file->value_capacity, file->value_count + 1, sizeof value, "metadata"));
        file->values[file->value_count++] = value;
    }
    if (file->value_count)
        qsort(file->values, file->value_count, sizeof *file->values, by_key);
    for (size_t i = 1; i < file->value_count; i++) {
        const clf_gguf_string key = file->values[i].key;
        if (compare_strings(file->values[i - 1].key, key) == 0)
            CLF_FAIL(CLF_FORMAT, "%s: metadata key \"%.*s\" occurs twice", r->path, (int)(key.length < 128 ? key.length : 128), key.data);
    }
    return CLF_OK;
}

static clf_status read_settings(clf_gguf *file)
{
    int64_t alignment;
    CLF_TRY(clfi_gguf_opt_int(file, CLFI_GGUF_ALIGNMENT, 1, CLFI_GGUF_MAX_ALIGNMENT, 32, &alignment));
    if (alignment & (alignment - 1))
        CLF_FAIL(CLF_FORMAT, "%s: \"general.alignment\": expected a power of two, found %lld", file->map->path, (long long)alignment);
    file->alignment = (size_t)alignment;
    return CLF_OK;
}

static clf_status take_tensor_name(reader *r, char **out)
{
    clf_gguf_string name;
    CLF_TRY(take_string(r, "tensor name", CLFI_GGUF_MAX_NAME, &name));
    if (name.length == 0 || memchr(name.data, 0, name.length) ||
        clfi_utf8_check((const unsigned char *)name.data, name.length) != name.length)
        CLF_FAIL(CLF_FORMAT, "%s: tensor name of %zu bytes: expected UTF-8 without U+0000", r->path, name.length);
    return clfi_strndup(name.data, name.length, out);
}

static clf_status take_sizes(reader *r, clf_gguf_tensor *t)
{
    uint64_t rank = 0, size = 0;
    CLF_TRY(take_number(r, "number of dimensions", 4, &rank));
    if (rank < 1 || rank > CLFI_GGUF_MAX_RANK)
        CLF_FAIL(CLF_FORMAT, "%s: tensor \"%s\": expected 1 to %d dimensions, found %" PRIu64, r->path, t->name, CLFI_GGUF_MAX_RANK, rank);
    t->rank = (int)rank;
    for (int i = t->rank - 1; i >= 0; i--) { /* the file lists the innermost dimension first */
        CLF_TRY(take_number(r, "dimension", 8, &size));
        if (size < 1 || size > INT64_MAX)
            CLF_FAIL(CLF_FORMAT, "%s: tensor \"%s\": expected sizes of 1 or more, found %" PRIu64, r->path, t->name, size);
        t->dim[i] = (int64_t)size;
    }
    return CLF_OK;
}

static clf_status take_weight_type(reader *r, clf_gguf_tensor *t)
{
    uint64_t number = 0;
    char known[128];
    CLF_TRY(take_number(r, "weight type", 4, &number));
    if (clfi_weight_type_from_gguf((uint32_t)number, &t->type))
        return CLF_OK;
    const char *name = clfi_gguf_unread_type_name((uint32_t)number);
    clfi_weight_type_list(known, sizeof known);
    CLF_FAIL(CLF_UNSUPPORTED,
             "%s: tensor \"%s\": weight type %s%s%" PRIu64 "%s is not supported: expected %s (use the model in another type)", r->path,
             t->name, name ? name : "", name ? " (" : "", number, name ? ")" : "", known);
}

static clf_status measure(const reader *r, clf_gguf_tensor *t)
{
    const clf_weight_type_info *info = clfi_weight_type_info(t->type);
    size_t rows = 1;
    bool fits = true;
    for (int i = 0; i < t->rank - 1; i++)
        fits = fits && clfi_mul_size(rows, (size_t)t->dim[i], &rows);
    if (t->dim[t->rank - 1] % info->block_weights != 0)
        CLF_FAIL(CLF_FORMAT, "%s: tensor \"%s\": expected rows of whole blocks of %d %s weights, found rows of %lld", r->path, t->name,
                 info->block_weights, info->name, (long long)t->dim[t->rank - 1]);
    if (!fits || rows > INT64_MAX || !clfi_weight_bytes(t->type, (int64_t)rows, t->dim[t->rank - 1], &t->bytes))
        CLF_FAIL(CLF_FORMAT, "%s: tensor \"%s\": its size in bytes does not fit this machine", r->path, t->name);
    return CLF_OK;
}

static clf_status take_tensor(reader *r, clf_gguf_tensor *t)
{
    uint64_t offset = 0;
    CLF_TRY(take_tensor_name(r, (char **)&t->name));
    CLF_TRY(take_sizes(r, t));
    CLF_TRY(take_weight_type(r, t));
    CLF_TRY(measure(r, t));
    CLF_TRY(take_number(r, "offset of a tensor", 8, &offset));
    if (offset > r->size)
        CLF_FAIL(CLF_FORMAT, "%s: tensor \"%s\": expected an offset inside the file of %zu bytes, found %" PRIu64, r->path, t->name,
                 r->size, offset);
    t->offset = (size_t)offset;
    return CLF_OK;
}

static clf_status read_tensors(reader *r, clf_gguf *file, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CLF_TRY(clfi_grow(&file->tensors, &file->capacity, file->count + 1, sizeof *file->tensors, "tensor table"));
        clf_gguf_tensor *t = &file->tensors[file->count++]; /* counted before it is read, so that its name is released also after a
                                                               failure */
        *t = (clf_gguf_tensor){.name = NULL};
        CLF_TRY(take_tensor(r, t));
    }
    return CLF_OK;
}

/* Checks that each tensor begins where the one before ends, rounded up to the alignment, and that all lie inside the file. Sets their
 * offsets in the file and their data. */
static clf_status place_tensors(const reader *r, clf_gguf *file)
{
    size_t data, end = 0;
    if (!clfi_round_up(r->at, file->alignment, &data) || (file->count && data > r->size))
        CLF_FAIL(CLF_FORMAT, "%s: expected data after the header of %zu bytes, the file has %zu", r->path, r->at, r->size);
    for (size_t i = 0; i < file->count; i++) {
        clf_gguf_tensor *t = &file->tensors[i];
        if (!clfi_round_up(end, file->alignment, &end) || t->offset != end)
            CLF_FAIL(CLF_FORMAT, "%s: tensor \"%s\": expected its data at %zu, where the one before ends, found %zu", r->path, t->name, end,
                     t->offset);
        if (t->offset > r->size - data || t->bytes > r->size - data - t->offset)
            CLF_FAIL(CLF_FORMAT, "%s: tensor \"%s\": expected %zu bytes at %zu, the file has %zu: it is cut short", r->path, t->name,
                     t->bytes, data + t->offset, r->size);
        end = t->offset + t->bytes;
        t->offset += data;
        t->data = r->data + t->offset;
    }
    return CLF_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const clf_gguf_tensor *const *)a)->name, (*(const clf_gguf_tensor *const *)b)->name);
}

clf_status clfi_gguf_index_names(clf_gguf *file)
{
    free(file->by_name);
    file->by_name = NULL;
    CLF_TRY(clfi_alloc(file->count, sizeof *file->by_name, "tensor names", &file->by_name));
    for (size_t i = 0; i < file->count; i++)
        file->by_name[i] = &file->tensors[i];
    if (file->count)
        qsort(file->by_name, file->count, sizeof *file->by_name, by_name);
    for (size_t i = 1; i < file->count; i++)
        if (strcmp(file->by_name[i - 1]->name, file->by_name[i]->name) == 0)
            CLF_FAIL(CLF_FORMAT, "%s: tensor \"%s\" occurs twice", clfi_gguf_part_path(file, file->by_name[i]->part),
                     file->by_name[i]->name);
    return CLF_OK;
}

clf_status clfi_gguf_read_header(clf_gguf *file)
{
    /* Bytes of the shortest tensor: length and 1 byte of its name, rank, one dimension, type, offset. Bytes of the shortest value: length
     * and 1 byte of its key, type, 1 byte. */
    enum { LEAST_TENSOR = 8 + 1 + 4 + 8 + 4 + 8, LEAST_VALUE = 8 + 1 + 4 + 1 };
    reader r = {file->map->path, file->map->data, file->map->size, 0};
    size_t tensors = 0, values = 0;
    CLF_TRY(check_start(&r));
    CLF_TRY(take_count(&r, "number of tensors", LEAST_TENSOR, &tensors));
    CLF_TRY(take_count(&r, "number of metadata keys", LEAST_VALUE, &values));
    CLF_TRY(read_values(&r, file, values));
    CLF_TRY(read_settings(file));
    CLF_TRY(read_tensors(&r, file, tensors));
    CLF_TRY(place_tensors(&r, file));
    return clfi_gguf_index_names(file);
}
