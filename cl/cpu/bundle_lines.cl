/* SPDX-License-Identifier: MIT */
/* Reads lines of a bundle (weight_bundles.cl) as vectors of 16 floats. Line j of a group holds the integers of columns j and j + 16. */
#include "vector.cl"
#include "weight_bundles.cl"

#if WIDTH != BUNDLE
#error "WIDTH: 16, the rows of a bundle"
#endif

/* Offset of the lines in a group, after its scales. */
#define LINES_AT (SCALES_BYTES + FIFTH_BYTES)

#if HAS_FIFTH_BITS
#define LINE_PARAMETERS __global const uchar *group, uintv fifth
#define LINE_ARGUMENTS(group, fifth) group, fifth
#define WITH_FIFTH(nibbles, j) ((nibbles) | (fifth >> (uintv)(j) & 1u) << 4)
#else
#define LINE_PARAMETERS __global const uchar *group
#define LINE_ARGUMENTS(group, fifth) group
#define WITH_FIFTH(nibbles, j) (nibbles)
#endif

/* The quad that has line j: four bytes of each row. */
inline uintv quad(__global const uchar *group, uint j)
{
    return AS_UINTV(vector_load_f32((__global const float *)(group + LINES_AT + j / 4 * (4 * BUNDLE))));
}

#if IS_BYTES
inline floatv byte_line(__global const uchar *group, uint j)
{
    return TO_FLOATV(AS_INTV(quad(group, j) << (uintv)(24 - j % 4 * 8)) >> 24);
}

inline floatv low_line(LINE_PARAMETERS, uint j)
{
    return byte_line(group, j);
}

inline floatv high_line(LINE_PARAMETERS, uint j)
{
    return byte_line(group, j + 16);
}
#else
inline floatv low_line(LINE_PARAMETERS, uint j)
{
    return TO_FLOATV(AS_INTV(WITH_FIFTH(quad(group, j) >> (uintv)(j % 4 * 8) & 15u, j)));
}

inline floatv high_line(LINE_PARAMETERS, uint j)
{
    return TO_FLOATV(AS_INTV(WITH_FIFTH(quad(group, j) >> (uintv)(j % 4 * 8 + 4) & 15u, j + 16)));
}
#endif

/* Converts nibbles to floats without a shift: a nibble q of byte b that begins at bit s becomes 2^s q. The other factor is first multiplied
 * by 2^-s, element b of LOW_PLACES or HIGH_PLACES. Only the uppermost nibble is shifted down, because it would reach the sign bit. Powers
 * of two round nothing, so products are the same to the bit. */
#define IS_IN_PLACE (!IS_BYTES && !HAS_FIFTH_BITS)
#define LOW_IN_PLACE(word, b) TO_FLOATV(AS_INTV((word) & 15u << (b) * 8))
#define HIGH_IN_PLACE(word, b) TO_FLOATV(AS_INTV((b) == 3 ? (word) >> 28 : (word) & 240u << (b) * 8))
#define LOW_PLACES (float4)(1.0f, 0x1p-8f, 0x1p-16f, 0x1p-24f)
#define HIGH_PLACES (float4)(0x1p-4f, 0x1p-12f, 0x1p-20f, 1.0f)

inline floatv unit_half(__global const uchar *unit, int index)
{
    return vector_load_f16((__global const half *)unit + index * BUNDLE);
}

#define LINES_16(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)

/* Whether weights have a shift: weight = integer * scale + shift. It is -m t or m in types that store a minimum, otherwise -ZERO d. */
#define HAS_SHIFT (HAS_MINIMUM || (ZERO && !IS_BYTES))

inline floatv group_scale(floatv d, __global const uchar *group, int part)
{
#if HAS_GROUPS
    return d * TO_FLOATV(TO_INTV(vload16(part, (__global const char *)group)));
#else
    return d;
#endif
}

inline floatv group_shift(__global const uchar *unit, floatv d, __global const uchar *group)
{
#if HAS_GROUPS && HAS_MINIMUM
    return -unit_half(unit, 1) * TO_FLOATV(TO_INTV(vload16(1, (__global const char *)group)));
#elif HAS_MINIMUM
    return unit_half(unit, 1);
#else
    return d * (floatv)(-(float)ZERO);
#endif
}

/* A weight from its integer. Q6_K has a second scale for the upper 16 columns of a group. */
#if HAS_SHIFT
#define WEIGHT(integer, scale, shift) ((integer) * (scale) + (shift))
#else
#define WEIGHT(integer, scale, shift) ((integer) * (scale))
#endif
#define HIGH_PART (BLOCKS == BLOCKS_Q6_K ? 1 : 0)
