/* SPDX-License-Identifier: MIT */
/* Loads neighbours of a stored row with as few instructions as possible: FOUR loads four elements as floats, WIDE_BITS loads sixteen bytes,
 * which hold WIDE_x elements. READS says how a row may be read:
 *   ELEMENTS         one by one: any stride, any start
 *   VECTORS          neighbours, which begin at a multiple of four bytes
 *   ALIGNED_VECTORS  neighbours, which begin at a multiple of four elements (of FOUR) or of sixteen bytes (of WIDE_BITS) */
#include "types.cl"

#define ELEMENTS 0
#define VECTORS 1
#define ALIGNED_VECTORS 2

/* Four floats from the bits of four stored elements. */
inline float4 four_of_f16(uint2 bits)
{
    const ushort4 halves = as_ushort4(bits);
    return vload_half4(0, (const half *)&halves);
}

inline float4 four_of_bf16(uint2 bits)
{
    return as_float4((uint4)(bits.x << 16, bits.x & 0xffff0000u, bits.y << 16, bits.y & 0xffff0000u));
}

inline float4 four_load_f32(__global const float *p) { return vload4(0, p); }
inline float4 four_load_f16(__global const half *p) { return four_of_f16(vload2(0, (__global const uint *)p)); }
inline float4 four_load_bf16(__global const ushort *p) { return four_of_bf16(vload2(0, (__global const uint *)p)); }
inline float4 four_aligned_load_f32(__global const float *p) { return *(__global const float4 *)p; }
inline float4 four_aligned_load_f16(__global const half *p) { return four_of_f16(*(__global const uint2 *)p); }
inline float4 four_aligned_load_bf16(__global const ushort *p) { return four_of_bf16(*(__global const uint2 *)p); }

/* load: the LOAD_x function of the storage type. The two kinds of load are functions of their own: in one function, compilers would merge
 * them into the unaligned load. */
#define FOUR(load, p, reads) ((reads) == ALIGNED_VECTORS ? PASTE(four_aligned_, load)(p) : PASTE(four_, load)(p))
#define WIDE_BITS(p, reads) \
    ((reads) == ALIGNED_VECTORS ? *(__global const uint4 *)(p) : vload4(0, (__global const uint *)(p)))

/* Number of elements in sixteen bytes, and the first and second four of them as floats. */
#define WIDE_load_f32 4
#define WIDE_load_f16 8
#define WIDE_load_bf16 8
#define FIRST_FOUR_load_f32(bits) as_float4(bits)
#define FIRST_FOUR_load_f16(bits) four_of_f16((bits).xy)
#define FIRST_FOUR_load_bf16(bits) four_of_bf16((bits).xy)
#define SECOND_FOUR_load_f32(bits) (float4)(0.0f)
#define SECOND_FOUR_load_f16(bits) four_of_f16((bits).zw)
#define SECOND_FOUR_load_bf16(bits) four_of_bf16((bits).zw)
