/* SPDX-License-Identifier: MIT */
/* Flags the rows of a result that hold a number that is not finite, or one that is not 0. One work-item per row. */
#include "item.cl"

#ifndef FLAG_NOT_FINITE
#error "FLAG_NOT_FINITE: the bit of a row that holds a NaN or an infinity"
#endif
#ifndef FLAG_NOT_ZERO
#error "FLAG_NOT_ZERO: the bit of a row with an element that is not 0"
#endif

__kernel void row_check(ITEM_PARAMETERS long rows, int columns, __global const float *x, long x_offset, __global int *flags,
                        long flags_offset)
{
    const long row = get_global_id(0);
    if (row >= rows)
        return;
    int flag = 0;
    x += x_offset + row * columns;
    for (int c = 0; c < columns; c++)
        flag |= (isfinite(x[c]) ? 0 : FLAG_NOT_FINITE) | (x[c] != 0.0f ? FLAG_NOT_ZERO : 0);
    flags[flags_offset + row] = flag;
}
