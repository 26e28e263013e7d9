/* SPDX-License-Identifier: MIT */
/* Overflow-checked size arithmetic and host allocation. */
#ifndef CLFI_BASE_ALLOC_H
#define CLFI_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"

/* a*b or a+b into *out; false (and *out untouched) when it does not fit size_t. */
bool clfi_mul_size(size_t a, size_t b, size_t *out);
bool clfi_add_size(size_t a, size_t b, size_t *out);

/* Smallest multiple of `unit` (> 0) that is >= value; false when it does not fit. */
bool clfi_round_up(size_t value, size_t unit, size_t *out);

/* Zeroed array of count elements into *out (never NULL on success, also for count 0). OUT_OF_MEMORY names `what`. Caller frees. */
clf_status clfi_alloc(size_t count, size_t size, const char *what, void *out_pointer);

/* Grows *pointer (may hold NULL) from *capacity to at least `need` elements, geometrically; new elements are not initialised. On
 * OUT_OF_MEMORY, which names `what`, the old memory stays. */
clf_status clfi_grow(void *pointer, size_t *capacity, size_t need, size_t size, const char *what);

/* Copy of size bytes with a NUL appended. Caller frees. */
clf_status clfi_strndup(const char *text, size_t size, char **out);
clf_status clfi_strdup(const char *text, char **out);

#endif
