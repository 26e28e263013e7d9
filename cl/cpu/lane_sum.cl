/* SPDX-License-Identifier: MIT */
/* Sum of the lanes of a floatv, by halves down to four. */
#include "vector.cl"

#if WIDTH > 1
static inline float4 quarter_sum(floatv v)
{
#if WIDTH == 16
    const float8 half_sum = v.lo + v.hi;
    return half_sum.lo + half_sum.hi;
#elif WIDTH == 8
    return v.lo + v.hi;
#else
    return v;
#endif
}
#endif

static inline float lane_sum(floatv v)
{
#if WIDTH == 1
    return v;
#else
    return dot(quarter_sum(v), (float4)(1.0f)); /* for x + y + z + w LLVM makes a shuffle with unused lanes, on which Oclgrind crashes */
#endif
}
