/* SPDX-License-Identifier: MIT */
/* Sums the lanes of each of WIDTH vectors: lane j of the result is the sum of the lanes of v[j]. Halves are added first, as in lane_sum.
 * Each step merges pairs of vectors: one vector addition adds the halves of both. So all the sums take WIDTH - 1 vector additions. */
#include "vector.cl"

#define HALVES_16(a, b) ((float16)(a.lo, b.lo) + (float16)(a.hi, b.hi))
#define QUARTERS_16(a, b) ((float16)(a.s0123, b.s0123, a.s89ab, b.s89ab) + (float16)(a.s4567, b.s4567, a.scdef, b.scdef))
#define PAIRS_16(a, b)                                                                         \
    ((float16)(a.s01, b.s01, a.s45, b.s45, a.s89, b.s89, a.scd, b.scd) +                        \
     (float16)(a.s23, b.s23, a.s67, b.s67, a.sab, b.sab, a.sef, b.sef))
#define LANES_16(a, b)                                                                                                        \
    ((float16)(a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6, a.s8, b.s8, a.sa, b.sa, a.sc, b.sc, a.se, b.se) +                \
     (float16)(a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7, a.s9, b.s9, a.sb, b.sb, a.sd, b.sd, a.sf, b.sf))
#define HALVES_8(a, b) ((float8)(a.lo, b.lo) + (float8)(a.hi, b.hi))
#define PAIRS_8(a, b) ((float8)(a.s01, b.s01, a.s45, b.s45) + (float8)(a.s23, b.s23, a.s67, b.s67))
#define LANES_8(a, b) \
    ((float8)(a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6) + (float8)(a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7))
#define PAIRS_4(a, b) ((float4)(a.s01, b.s01) + (float4)(a.s23, b.s23))
#define LANES_4(a, b) ((float4)(a.s0, b.s0, a.s2, b.s2) + (float4)(a.s1, b.s1, a.s3, b.s3))

#if WIDTH == 16
#define HALVES(j) const float16 half##j = HALVES_16(v[j], v[j + 8]);
#define QUARTERS(j, k) const float16 quarter##j = QUARTERS_16(half##j, half##k);
#define PAIRS(j, k) const float16 pair##j = PAIRS_16(quarter##j, quarter##k);
#endif

static inline floatv lane_sums(const floatv *v)
{
#if WIDTH == 16
    HALVES(0) HALVES(1) HALVES(2) HALVES(3) HALVES(4) HALVES(5) HALVES(6) HALVES(7)
    QUARTERS(0, 4) QUARTERS(1, 5) QUARTERS(2, 6) QUARTERS(3, 7)
    PAIRS(0, 2) PAIRS(1, 3)
    return LANES_16(pair0, pair1);
#elif WIDTH == 8
    const float8 half0 = HALVES_8(v[0], v[4]), half1 = HALVES_8(v[1], v[5]), half2 = HALVES_8(v[2], v[6]), half3 = HALVES_8(v[3], v[7]);
    const float8 pair0 = PAIRS_8(half0, half2), pair1 = PAIRS_8(half1, half3);
    return LANES_8(pair0, pair1);
#else
    const float4 pair0 = PAIRS_4(v[0], v[2]), pair1 = PAIRS_4(v[1], v[3]);
    return LANES_4(pair0, pair1);
#endif
}
