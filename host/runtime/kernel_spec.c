/* SPDX-License-Identifier: MIT */
/* Builds the text of a kernel's options, and its hash. */
#include "runtime/kernel_spec.h"

#include <string.h>
#include <xxhash.h>

clf_kernel_spec clfi_kernel_spec(const char *file, const char *kernel)
{
    clf_kernel_spec spec;
    spec.parts = NULL;
    spec.own = NULL;
    spec.file = file;
    spec.kernel = kernel;
    spec.options[0] = '\0';
    spec.length = 0;
    spec.overflow = false;
    spec.local[0] = spec.local[1] = spec.local[2] = 0;
    return spec;
}

/* Appends `text` at `at` and returns the new end; NULL: no room. Every launch comes through here, so it copies while it measures. */
static char *append(char *at, const char *end, const char *text)
{
    while (at && *text) {
        if (at == end)
            return NULL;
        *at++ = *text++;
    }
    return at;
}

/* Ends the options at `at`. NULL: the options stay as they were, and spec->overflow is set. */
static void finish(clf_kernel_spec *spec, const char *at)
{
    if (at)
        spec->length = (size_t)(at - spec->options);
    else
        spec->overflow = true;
    spec->options[spec->length] = '\0';
}

void clfi_spec_joined(clf_kernel_spec *spec, const char *first, const char *second, const char *value)
{
    const char *end = spec->options + sizeof spec->options - 1;
    char *at = append(spec->options + spec->length, end, " -D");
    at = append(at, end, first);
    at = append(at, end, second);
    at = append(at, end, "=");
    finish(spec, append(at, end, value));
}

void clfi_spec_unoptimised(clf_kernel_spec *spec)
{
    finish(spec, append(spec->options + spec->length, spec->options + sizeof spec->options - 1, " -cl-opt-disable"));
}

void clfi_spec_text(clf_kernel_spec *spec, const char *macro, const char *value)
{
    clfi_spec_joined(spec, macro, "", value);
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

uint64_t clfi_spec_hash(const clf_kernel_spec *spec)
{
    return XXH3_64bits(spec->options, spec->length);
}

bool clfi_spec_is(const clf_kernel_spec *spec, uint64_t spec_hash, const char *kernel, const char *options, uint64_t hash)
{
    return hash == spec_hash && strcmp(options, spec->options) == 0 && strcmp(kernel, spec->kernel) == 0;
}
