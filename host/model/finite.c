/* SPDX-License-Identifier: MIT */
/* Checks that numbers on the host are finite. */
#include "model/finite.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 64 }; /* looked at together, without a branch for each: a vocabulary's logits come here for every token */

static bool has_not_finite(const float values[BLOCK])
{
    const uint32_t exponent = 0x7f800000;
    uint32_t bits[BLOCK], found = 0;
    memcpy(bits, values, sizeof bits);
    for (int i = 0; i < BLOCK; i++)
        found |= (bits[i] & exponent) == exponent;
    return found;
}

size_t clfi_find_not_finite(const float *values, size_t count)
{
    size_t i = 0;
    while (i + BLOCK <= count && !has_not_finite(values + i))
        i += BLOCK;
    while (i < count && isfinite(values[i]))
        i++;
    return i;
}

clf_status clfi_check_finite(const char *what, const float *values, size_t count)
{
    const size_t i = clfi_find_not_finite(values, count);
    if (i < count)
        CLF_FAIL(CLF_FORMAT, "%s %zu is %g: expected a finite number", what, i, (double)values[i]);
    return CLF_OK;
}
