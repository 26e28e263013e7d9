/* SPDX-License-Identifier: MIT */
/* A growable byte string. */
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

void clfi_str_free(clf_str *str)
{
    free(str->data);
    *str = (clf_str)CLF_STR_INIT;
}

void clfi_str_clear(clf_str *str)
{
    str->length = 0;
    if (str->data)
        str->data[0] = '\0';
}

static clf_status reserve(clf_str *str, size_t more)
{
    size_t need;
    if (more < str->capacity - str->length)
        return CLF_OK;
    if (!clfi_add_size(str->length, more, &need) || !clfi_add_size(need, 1, &need))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "string of %zu + %zu bytes: not enough memory", str->length, more);
    return clfi_grow(&str->data, &str->capacity, need, 1, "string");
}

clf_status clfi_str_append(clf_str *str, const void *bytes, size_t size)
{
    CLF_TRY(reserve(str, size));
    if (size)
        memcpy(str->data + str->length, bytes, size);
    str->length += size;
    str->data[str->length] = '\0';
    return CLF_OK;
}

clf_status clfi_str_append_text(clf_str *str, const char *text)
{
    return clfi_str_append(str, text, strlen(text));
}

clf_status clfi_str_append_char(clf_str *str, char byte)
{
    return clfi_str_append(str, &byte, 1);
}

clf_status clfi_str_append_code_point(clf_str *str, uint32_t code)
{
    unsigned char bytes[4];
    return clfi_str_append(str, bytes, clfi_utf8_encode(code, bytes));
}

clf_status clfi_str_appendf(clf_str *str, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    clf_status st = size < 0 ? clfi_fail(CLF_INTERNAL, "format \"%s\"", format) : reserve(str, (size_t)size);
    if (st == CLF_OK) {
        vsnprintf(str->data + str->length, (size_t)size + 1, format, again);
        str->length += (size_t)size;
    }
    va_end(again);
    return st;
}

const char *clfi_str_text(const clf_str *str)
{
    return str->data ? str->data : "";
}
