/* SPDX-License-Identifier: MIT */
/* Metadata in the form of the file: key, type, value; numbers with their lowest byte first. */
#include "io/gguf_values.h"

#include <string.h>

#include "base/half.h"
#include "io/gguf_file.h"

void clfi_gguf_values_free(clf_gguf_values *values)
{
    clfi_str_free(&values->bytes);
    values->count = 0;
}

static clf_status add(clf_gguf_values *values, uint64_t value, size_t bytes)
{
    uint8_t out[8];
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> (8 * i));
    return clfi_str_append(&values->bytes, out, bytes);
}

static clf_status add_string(clf_gguf_values *values, const char *data, size_t length)
{
    CLF_TRY(add(values, length, 8));
    return length ? clfi_str_append(&values->bytes, data, length) : CLF_OK;
}

static clf_status begin(clf_gguf_values *values, const char *key, clf_gguf_type type)
{
    values->count++;
    CLF_TRY(add_string(values, key, strlen(key)));
    return add(values, type, 4);
}

static clf_status begin_list(clf_gguf_values *values, const char *key, clf_gguf_type element, size_t count)
{
    CLF_TRY(begin(values, key, CLF_GGUF_ARRAY));
    CLF_TRY(add(values, element, 4));
    return add(values, count, 8);
}

clf_status clfi_gguf_put_int(clf_gguf_values *values, const char *key, uint32_t value)
{
    CLF_TRY(begin(values, key, CLF_GGUF_U32));
    return add(values, value, 4);
}

clf_status clfi_gguf_put_signed(clf_gguf_values *values, const char *key, int32_t value)
{
    CLF_TRY(begin(values, key, CLF_GGUF_I32));
    return add(values, (uint32_t)value, 4);
}

clf_status clfi_gguf_put_number(clf_gguf_values *values, const char *key, double value)
{
    CLF_TRY(begin(values, key, CLF_GGUF_F32));
    return add(values, clfi_f32_bits((float)value), 4);
}

clf_status clfi_gguf_put_bool(clf_gguf_values *values, const char *key, bool value)
{
    CLF_TRY(begin(values, key, CLF_GGUF_BOOL));
    return add(values, value, 1);
}

clf_status clfi_gguf_put_text(clf_gguf_values *values, const char *key, const char *value)
{
    CLF_TRY(begin(values, key, CLF_GGUF_STRING));
    return add_string(values, value, strlen(value));
}

clf_status clfi_gguf_put_texts(clf_gguf_values *values, const char *key, const clf_text *texts, size_t count)
{
    CLF_TRY(begin_list(values, key, CLF_GGUF_STRING, count));
    for (size_t i = 0; i < count; i++)
        CLF_TRY(add_string(values, texts[i].data, texts[i].size));
    return CLF_OK;
}

clf_status clfi_gguf_put_ints(clf_gguf_values *values, const char *key, const int32_t *numbers, size_t count)
{
    CLF_TRY(begin_list(values, key, CLF_GGUF_I32, count));
    for (size_t i = 0; i < count; i++)
        CLF_TRY(add(values, (uint32_t)numbers[i], 4));
    return CLF_OK;
}

clf_status clfi_gguf_put_numbers(clf_gguf_values *values, const char *key, const float *numbers, size_t count)
{
    CLF_TRY(begin_list(values, key, CLF_GGUF_F32, count));
    for (size_t i = 0; i < count; i++)
        CLF_TRY(add(values, clfi_f32_bits(numbers[i]), 4));
    return CLF_OK;
}

clf_status clfi_gguf_put_value(clf_gguf_values *values, const clf_gguf_value *value)
{
    const size_t bytes = clfi_gguf_value_bytes(value);
    values->count++;
    CLF_TRY(add_string(values, value->key.data, value->key.length));
    CLF_TRY(add(values, value->type, 4));
    if (value->type == CLF_GGUF_ARRAY) {
        CLF_TRY(add(values, value->element, 4));
        CLF_TRY(add(values, value->count, 8));
    }
    return bytes ? clfi_str_append(&values->bytes, value->data, bytes) : CLF_OK;
}
