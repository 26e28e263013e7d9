/* SPDX-License-Identifier: MIT */
/* The largest lane of a floatv, by halves. The result is NaN only if all lanes are. */
#include "vector.cl"

static inline float lane_max(floatv v)
{
#if WIDTH == 16
    const float8 half_max = fmax(v.lo, v.hi);
    const float4 quarter_max = fmax(half_max.lo, half_max.hi);
#elif WIDTH == 8
    const float4 quarter_max = fmax(v.lo, v.hi);
#elif WIDTH == 4
    const float4 quarter_max = v;
#endif
#if WIDTH == 1
    return v;
#else
    const float2 pair = fmax(quarter_max.lo, quarter_max.hi);
    return fmax(pair.x, pair.y);
#endif
}
