/* SPDX-License-Identifier: MIT */
/* The one check of numbers on the host. */
#include "model/finite.h"

#include <math.h>

size_t clfi_find_not_finite(const float *values, size_t count)
{
    size_t i = 0;
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
