/* SPDX-License-Identifier: MIT */
/* Batches of strided matrices: four dimensions, outermost first, unused ones of size 1. */

/* Offset of batch `index` in elements. */
inline long strided_batch_offset(uint index, uint4 size, long4 stride)
{
    const uint i3 = index % size.w;
    index /= size.w;
    const uint i2 = index % size.z;
    index /= size.z;
    const uint i1 = index % size.y;
    index /= size.y;
    return index * stride.x + i1 * stride.y + i2 * stride.z + i3 * stride.w;
}
