/* SPDX-License-Identifier: MIT */
/* The text of a kernel's options, hashed as it grows. */
#include "runtime/kernel_spec.h"

#include <stdint.h>
#include <string.h>

clf_kernel_spec clfi_kernel_spec(const char *file, const char *kernel)
{
    clf_kernel_spec spec;
    spec.parts = NULL;
    spec.own = NULL;
    spec.file = file;
    spec.kernel = kernel;
    spec.options[0] = '\0';
    spec.length = 0;
    spec.hash = UINT64_C(0xcbf29ce484222325);
    spec.overflow = false;
    return spec;
}

/* Appends bytes to the options and to their hash (FNV-1a). Every launch comes through here, so nothing is formatted twice. */
static void append(clf_kernel_spec *spec, const char *text, size_t size)
{
    if (size >= sizeof spec->options - spec->length) {
        spec->overflow = true;
        return;
    }
    memcpy(spec->options + spec->length, text, size);
    spec->length += size;
    spec->options[spec->length] = '\0';
    for (size_t i = 0; i < size; i++)
        spec->hash = (spec->hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
}

void clfi_spec_int(clf_kernel_spec *spec, const char *macro, long long value)
{
    char digits[24], *at = digits + sizeof digits;
    unsigned long long rest = value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value;
    *--at = '\0';
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--at = '-';
    clfi_spec_text(spec, macro, at);
}

void clfi_spec_text(clf_kernel_spec *spec, const char *macro, const char *value)
{
    append(spec, " -D", 3);
    append(spec, macro, strlen(macro));
    append(spec, "=", 1);
    append(spec, value, strlen(value));
}
