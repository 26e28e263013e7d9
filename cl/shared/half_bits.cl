/* SPDX-License-Identifier: MIT */
/* The 16 bits of a half, for devices that have no arithmetic in half precision. They pass through bytes: compilers may take it that a half
 * never overlaps a ushort, and PoCL then drops the store. */
inline uint half_bits(float x) /* rounded to nearest, ties to even */
{
    uchar bytes[2] __attribute__((aligned(2)));
    vstore_half_rte(x, 0, (__private half *)bytes);
    return bytes[0] | (uint)bytes[1] << 8;
}

inline float half_value(uint bits)
{
    const uchar bytes[2] __attribute__((aligned(2))) = {(uchar)bits, (uchar)(bits >> 8)};
    return vload_half(0, (__private const half *)bytes);
}
