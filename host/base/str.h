/* SPDX-License-Identifier: MIT */
/* Growable byte string: may hold NUL bytes, always NUL-terminated once written to. */
#ifndef CLFI_BASE_STR_H
#define CLFI_BASE_STR_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct clf_str {
    char *data; /* NULL while empty and never written */
    size_t length;
    size_t capacity;
} clf_str;

#define CLF_STR_INIT {NULL, 0, 0}

void clfi_str_free(clf_str *str);  /* releases the memory; the string is empty and usable again */
void clfi_str_clear(clf_str *str); /* length 0, memory kept */
clf_status clfi_str_append(clf_str *str, const void *bytes, size_t size);
clf_status clfi_str_append_text(clf_str *str, const char *text);
clf_status clfi_str_append_char(clf_str *str, char byte);
clf_status clfi_str_append_code_point(clf_str *str, uint32_t code);
clf_status clfi_str_appendf(clf_str *str, const char *format, ...) CLFI_PRINTF(2, 3);

/* The text, "" while empty; borrowed until the next change. */
const char *clfi_str_text(const clf_str *str);

/* The word after a count in a message: `one` after 1, else `many`. */
static inline const char *clfi_plural(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

#endif
