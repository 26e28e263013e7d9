/* SPDX-License-Identifier: MIT */
/* Sum of the lanes of a floatv, by halves down to four. */
#include "vector.cl"

static inline float lane_sum(floatv v)
{
#if WIDTH == 1
    return v;
#else
#if WIDTH == 16
    const float8 half_sum = v.lo + v.hi;
    const float4 quarter_sum = half_sum.lo + half_sum.hi;
#elif WIDTH == 8
    const float4 quarter_sum = v.lo + v.hi;
#else
    const float4 quarter_sum = v;
#endif
    return dot(quarter_sum, (float4)(1.0f)); /* for x + y + z + w LLVM makes a shuffle with unused lanes, on which Oclgrind crashes */
#endif
}
