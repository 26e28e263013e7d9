/* SPDX-License-Identifier: MIT */
/* Reads GGUF's metadata values by their types. */
#include <string.h>

#include "base/half.h"
#include "io/gguf_file.h"

typedef struct type_row {
    size_t bytes;
    const char *name;
} type_row;

static const type_row types[CLF_GGUF_TYPE_COUNT] = {
#define X(id, number, bytes, name) [CLF_GGUF_##id] = {bytes, name},
    CLFI_GGUF_TYPE_MAP(X)
#undef X
};

size_t clfi_gguf_type_bytes(clf_gguf_type type)
{
    return types[type].bytes;
}

const char *clfi_gguf_type_name(clf_gguf_type type)
{
    return types[type].name;
}

uint64_t clfi_gguf_load(const uint8_t *from, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

bool clfi_gguf_int(const clf_gguf_value *value, size_t i, int64_t *out)
{
    const size_t bytes = types[value->element].bytes;
    if (i >= value->count || bytes == 0 || value->element == CLF_GGUF_F32 || value->element == CLF_GGUF_F64)
        return false;
    const uint64_t bits = clfi_gguf_load(value->data + i * bytes, bytes);
    switch (value->element) {
    case CLF_GGUF_I8:
        *out = (int8_t)bits;
        return true;
    case CLF_GGUF_I16:
        *out = (int16_t)bits;
        return true;
    case CLF_GGUF_I32:
        *out = (int32_t)bits;
        return true;
    case CLF_GGUF_I64:
        *out = (int64_t)bits;
        return true;
    default:
        *out = (int64_t)bits;
        return bits <= INT64_MAX;
    }
}

bool clfi_gguf_number(const clf_gguf_value *value, size_t i, double *out)
{
    int64_t integer;
    if (value->element == CLF_GGUF_F32 && i < value->count) {
        *out = (double)clfi_f32_from_bits((uint32_t)clfi_gguf_load(value->data + 4 * i, 4));
        return true;
    }
    if (value->element == CLF_GGUF_F64 && i < value->count) {
        const uint64_t bits = clfi_gguf_load(value->data + 8 * i, 8);
        memcpy(out, &bits, sizeof *out);
        return true;
    }
    if (!clfi_gguf_int(value, i, &integer))
        return false;
    *out = (double)integer;
    return true;
}

bool clfi_gguf_strings(const clf_gguf_value *value, clf_gguf_string *out)
{
    const uint8_t *at = value->data;
    if (value->element != CLF_GGUF_STRING)
        return false;
    for (size_t i = 0; i < value->count; i++) {
        const size_t length = (size_t)clfi_gguf_load(at, 8); /* lengths were checked when the file was opened */
        out[i] = (clf_gguf_string){(const char *)at + 8, length};
        at += 8 + length;
    }
    return true;
}

bool clfi_gguf_text(const clf_gguf_value *value, clf_gguf_string *out)
{
    return value->type == CLF_GGUF_STRING && clfi_gguf_strings(value, out);
}

/* Bytes of a value's elements as they lie in the file, which was checked when it was opened. */
size_t clfi_gguf_value_bytes(const clf_gguf_value *value)
{
    const size_t bytes = clfi_gguf_type_bytes(value->element);
    size_t size = bytes * value->count;
    for (size_t i = 0; bytes == 0 && i < value->count; i++)
        size += 8 + (size_t)clfi_gguf_load(value->data + size, 8);
    return size;
}
