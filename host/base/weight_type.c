/* SPDX-License-Identifier: MIT */
/* Looks up weight types by name or GGUF number, and computes the size of weights in bytes. */
#include "base/weight_type.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static const clf_weight_type_info rows[] = {
#define X(id, gguf, elements, bytes, name) {name, gguf, elements, bytes},
    CLFI_WEIGHT_TYPE_MAP(X)
#undef X
};
_Static_assert(COUNT(rows) == CLF_WEIGHT_TYPE_COUNT, "one row per weight type");

const clf_weight_type_info *clfi_weight_type_info(clf_weight_type type)
{
    return &rows[type];
}

bool clfi_weight_type_from_name(const char *name, clf_weight_type *out)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *out = (clf_weight_type)i;
            return true;
        }
    }
    return false;
}

bool clfi_weight_type_from_gguf(uint32_t number, clf_weight_type *out)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        if ((uint32_t)rows[i].gguf == number) {
            *out = (clf_weight_type)i;
            return true;
        }
    }
    return false;
}

void clfi_weight_type_list(char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < COUNT(rows) && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", rows[i].name);
}

bool clfi_weight_bytes(clf_weight_type type, int64_t row_count, int64_t columns, size_t *out)
{
    const int64_t block = rows[type].block_weights;
    size_t row;
    if (row_count < 0 || columns < 0 || columns % block != 0)
        return false;
    return clfi_mul_size((size_t)(columns / block), (size_t)rows[type].block_bytes, &row) && clfi_mul_size(row, (size_t)row_count, out) &&
           *out <= PTRDIFF_MAX;
}
