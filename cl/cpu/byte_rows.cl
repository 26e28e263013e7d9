/* SPDX-License-Identifier: MIT */
/* Converts rows of floats to integers for products of bytes. In a group of 32 columns, q[j] = round(x[j] / scale).
 * BYTES 1: q is a signed byte; scale = max |x| / 127.
 * BYTES 2: q is 256 upper + lower, two signed bytes; scale = max |x| / (256 * 127).
 * BYTES 4: q is four signed bytes. scale is the power of two for which 2^29 <= max |q| < 2^30, so that only columns below 2^-6 of the
 * largest lose bits.
 * Each byte of q has a plane of its own, the highest bytes first.
 *
 * A second array has SCALE_WORDS words for each group: scale, scale times the sum of q, and two integers with which the products' sums
 * start. These are -zero times the sum of q, over the lower and over the upper 16 columns; with IS_JOINED the first is over all 32. With
 * BYTES 4 there are two such pairs, for the upper and for the lower 16 bits of q.
 *
 * A group with a number that is not finite gets scale NaN, which makes the products NaN. With BYTES 1 and 2, a group becomes zeros if all
 * its numbers are smaller than SMALLEST. A work-item takes a group. */
#include "item.cl"

#if !defined(IS_JOINED) || !defined(BYTES) || !defined(SCALE_WORDS)
#error "IS_JOINED: one sum for the columns of a group, or one for each half; BYTES: 1, 2 or 4 of an integer; SCALE_WORDS: 4, for BYTES 4: 8"
#endif

#define SMALLEST 1e-30f
#if BYTES == 1
#define MOST 127.0f
#else
#define MOST 32512.0f
#endif

inline int sum_of_lanes(int16 v)
{
    const int8 half_sum = v.lo + v.hi;
    const int4 quarter_sum = half_sum.lo + half_sum.hi;
    const int2 pair = quarter_sum.lo + quarter_sum.hi;
    return pair.x + pair.y;
}

/* The signed number in the lowest `bits` bits of v. */
inline int16 lowest(int16 v, int bits)
{
    return v << (32 - bits) >> (32 - bits);
}

inline void store_bytes(int16 integers, __global char *to)
{
    vstore16(convert_char16(integers), 0, to);
}

inline void store_pairs(int16 integers, __global char *to, long plane)
{
    const int16 lower = lowest(integers, 8);
    store_bytes((integers - lower) >> 8, to);
    store_bytes(lower, to + plane);
}

/* Stores a group's integers of 8 or 16 bits and their two start values. Returns their sum. */
inline int store_group(int16 low, int16 high, int zero, __global char *to, long plane, __global float *start)
{
    const int low_sum = sum_of_lanes(low), high_sum = sum_of_lanes(high);
#if BYTES == 1
    store_bytes(low, to);
    store_bytes(high, to + 16);
#else
    store_pairs(low, to, plane);
    store_pairs(high, to + 16, plane);
#endif
    start[0] = as_float(-zero * (IS_JOINED ? low_sum + high_sum : low_sum));
    start[1] = as_float(-zero * high_sum);
    return low_sum + high_sum;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void byte_rows(ITEM_PARAMETERS __global const float *restrict x, long x_offset, long row_stride, int k, int zero, __global char *restrict q,
               long q_offset, long q_plane, __global float *restrict scales, long scales_offset)
{
    const int group = (int)get_global_id(0), row = (int)get_global_id(1), groups = (int)((uint)k / 32);
    __global const float *from = x + x_offset + row * row_stride + group * 32;
    const float16 low = vload16(0, from), high = vload16(1, from), sizes = fmax(fabs(low), fabs(high));
    const float8 eight = fmax(sizes.lo, sizes.hi);
    const float4 four = fmax(eight.lo, eight.hi);
    const float2 two = fmax(four.lo, four.hi);
    const float most = fmax(two.x, two.y);
    const bool is_finite = all(isfinite(low)) && all(isfinite(high)); /* fmax leaves NaN out */
#if BYTES == 4
    /* |x| < 2^(exponent - 126). The exponent is at least 30, so that the scale is a normal number. */
    const uint exponent = max(as_uint(is_finite ? most : 0.0f) >> 23, 30u);
    const float scale = is_finite ? as_float((exponent - 29u) << 23) : NAN;
    const float factor = is_finite ? as_float((283u - exponent) << 23) : 0.0f;
#else
    const float largest = most >= SMALLEST ? most : 0.0f;
    const float scale = is_finite ? largest / MOST : NAN, factor = is_finite && largest > 0.0f ? MOST / largest : 0.0f;
#endif
    const int16 low_integers = is_finite ? convert_int16_rte(low * factor) : (int16)(0);
    const int16 high_integers = is_finite ? convert_int16_rte(high * factor) : (int16)(0);
    __global char *to = q + q_offset + (long)row * k + group * 32;
    __global float *words = scales + scales_offset + ((long)row * groups + group) * SCALE_WORDS;
#if BYTES == 4
    /* The largest number of two signed bytes is 127 * 257: each part lies from -32896 to 32639. */
    const int16 low_lower = lowest(low_integers + 128, 16) - 128, high_lower = lowest(high_integers + 128, 16) - 128;
    const int upper = store_group((low_integers - low_lower) >> 16, (high_integers - high_lower) >> 16, zero, to, q_plane, words + 2);
    const int lower = store_group(low_lower, high_lower, zero, to + 2 * q_plane, q_plane, words + 4);
    const float sum = (float)upper * 65536.0f + (float)lower;
#else
    const float sum = (float)store_group(low_integers, high_integers, zero, to, q_plane, words + 2);
#endif
    words[0] = scale;
    words[1] = scale * sum;
}
