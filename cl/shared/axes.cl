/* SPDX-License-Identifier: MIT */
/* Offsets of strided operands: an index over merged axes (host/kernel/axes.h), outermost first, becomes an element offset. */

/* dim[0] is not needed: the outermost quotient is the index itself. */
static inline long axes_offset(const long *dim, const long *stride, int axes, long index)
{
    long offset = 0;
    for (int a = axes - 1; a > 0; a--) {
        const long outer = index / dim[a];
        offset += (index - outer * dim[a]) * stride[a];
        index = outer;
    }
    return offset + index * stride[0];
}
