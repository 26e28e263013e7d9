/* SPDX-License-Identifier: MIT */
/* Rows of floats as integers for products of bytes: a group of 32 columns is q[j] = round(x[j] / scale), scale = max |x| / MOST. With BYTES
 * 1 q is a signed byte and MOST 127; with BYTES 2 q is 256 upper + lower, both signed bytes, and MOST 256 * 127; the lower ones follow in a
 * second array. Four words of a group lie in an array of their own: scale, what the sums of the products begin with (-zero times the sum of
 * q, of the lower 16 columns and of the upper ones; of all of them in the first where IS_JOINED), and scale times the sum of q.
 *
 * What is not finite has no such form: its group's scale is NaN, and so are the products. Groups of nothing but numbers below SMALLEST are
 * zeros. A work-item takes a group. */
#include "item.cl"

#if !defined(IS_JOINED) || !defined(BYTES)
#error "IS_JOINED: one sum for the columns of a group, or one for each half; BYTES: 1 or 2 of an integer"
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

inline void store_integers(int16 integers, __global char *to, long plane)
{
#if BYTES == 1
    vstore16(convert_char16(integers), 0, to);
#else
    const int16 lower = integers << 24 >> 24;
    vstore16(convert_char16((integers - lower) >> 8), 0, to);
    vstore16(convert_char16(lower), 0, to + plane);
#endif
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void byte_rows(ITEM_PARAMETERS __global const float *restrict x, long x_offset, long row_stride, int k, int zero, __global char *restrict q,
               long q_offset, long q_plane, __global float4 *restrict scales, long scales_offset)
{
    const int group = (int)get_global_id(0), row = (int)get_global_id(1), groups = (int)((uint)k / 32);
    __global const float *from = x + x_offset + row * row_stride + group * 32;
    const float16 low = vload16(0, from), high = vload16(1, from), sizes = fmax(fabs(low), fabs(high));
    const float8 eight = fmax(sizes.lo, sizes.hi);
    const float4 four = fmax(eight.lo, eight.hi);
    const float2 two = fmax(four.lo, four.hi);
    const float largest = fmax(two.x, two.y) >= SMALLEST ? fmax(two.x, two.y) : 0.0f;
    const bool is_finite = all(isfinite(low)) && all(isfinite(high)); /* fmax leaves NaN out */
    const float scale = is_finite ? largest / MOST : NAN, factor = is_finite && largest > 0.0f ? MOST / largest : 0.0f;
    const int16 low_integers = is_finite ? convert_int16_rte(low * factor) : (int16)(0);
    const int16 high_integers = is_finite ? convert_int16_rte(high * factor) : (int16)(0);
    const int low_sum = sum_of_lanes(low_integers), high_sum = sum_of_lanes(high_integers);
    __global char *to = q + q_offset + (long)row * k + group * 32;
    store_integers(low_integers, to, q_plane);
    store_integers(high_integers, to + 16, q_plane);
    scales[scales_offset + (long)row * groups + group] = (float4)(scale, as_float(-zero * (IS_JOINED ? low_sum + high_sum : low_sum)),
                                                                  as_float(-zero * high_sum), scale * (float)(low_sum + high_sum));
}
