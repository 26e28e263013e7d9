/* SPDX-License-Identifier: MIT */
/* Overflow-checked size arithmetic and host allocation. */
#include "base/alloc.h"

#include <stdint.h>
#include <string.h>

bool clfi_mul_size(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *out = a * b;
    return true;
}

bool clfi_add_size(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b)
        return false;
    *out = a + b;
    return true;
}

bool clfi_round_up(size_t value, size_t unit, size_t *out)
{
    size_t padded;
    if (!clfi_add_size(value, unit - 1, &padded))
        return false;
    *out = padded - padded % unit;
    return true;
}

clf_status clfi_alloc(size_t count, size_t size, const char *what, void *out_pointer)
{
    size_t bytes;
    void *memory = clfi_mul_size(count, size, &bytes) ? calloc(1, bytes ? bytes : 1) : NULL;
    if (!memory)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: %zu elements of %zu bytes: not enough memory", what, count, size);
    memcpy(out_pointer, &memory, sizeof memory);
    return CLF_OK;
}

clf_status clfi_grow(void *pointer, size_t *capacity, size_t need, size_t size, const char *what)
{
    if (need <= *capacity)
        return CLF_OK;
    size_t want = *capacity > SIZE_MAX / 2 ? need : *capacity * 2;
    if (want < need)
        want = need;
    if (want < 16)
        want = 16;
    size_t bytes;
    void *old, *fresh = NULL;
    memcpy(&old, pointer, sizeof old);
    if (clfi_mul_size(want, size, &bytes))
        fresh = realloc(old, bytes);
    if (!fresh)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: %zu elements of %zu bytes: not enough memory", what, want, size);
    memcpy(pointer, &fresh, sizeof fresh);
    *capacity = want;
    return CLF_OK;
}

clf_status clfi_strndup(const char *text, size_t size, char **out)
{
    size_t bytes;
    if (!clfi_add_size(size, 1, &bytes))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "string of %zu bytes: not enough memory", size);
    CLF_TRY(clfi_alloc(bytes, 1, "string", out));
    if (size)
        memcpy(*out, text, size);
    return CLF_OK;
}

clf_status clfi_strdup(const char *text, char **out)
{
    return clfi_strndup(text, strlen(text), out);
}
