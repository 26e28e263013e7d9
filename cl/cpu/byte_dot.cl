/* SPDX-License-Identifier: MIT */
/* Dot products of four bytes in each lane: a.0 b.0 + ... + a.3 b.3. The bytes of a are unsigned; those of b are signed and the same in all
 * lanes. The x86 instructions are written out, because LLVM does not generate them for an older processor, and PoCL may compile for one.
 * Compilers for other processors get ordinary arithmetic with the same results.
 *
 * dot_bytes takes any bytes. IS_NARROW_DOT is for processors with AVX2 but without AVX512-VNNI, which add the products of two bytes in 16
 * bits. add_pairs adds such products to sums of pairs, which the caller keeps below 2^15; sum_pairs turns these into sums of four. */
#ifndef IS_NARROW_DOT
#error "IS_NARROW_DOT: 0 or 1, sums of 16 bits (VPMADDUBSW) instead of 32 (VPDPBUSD)"
#endif

#if IS_NARROW_DOT
#ifdef __x86_64__
inline uint8 pairs_of_eight(uint8 a, uint8 b)
{
    uint8 pairs;
    __asm__("vpmaddubsw %2, %1, %0" : "=x"(pairs) : "x"(a), "x"(b));
    return pairs;
}

inline int8 sums_of_eight(uint8 pairs)
{
    int8 sums;
    __asm__("vpmaddwd %2, %1, %0" : "=x"(sums) : "x"(pairs), "x"((uint8)(0x00010001u)));
    return sums;
}
#else
inline int8 signed_byte(uint8 v, int shift)
{
    return as_int8(v << (uint8)(24 - shift)) >> 24;
}

inline uint8 pairs_of_eight(uint8 a, uint8 b)
{
    const int8 low = as_int8(a & 255u) * signed_byte(b, 0) + as_int8(a >> 8 & 255u) * signed_byte(b, 8);
    const int8 high = as_int8(a >> 16 & 255u) * signed_byte(b, 16) + as_int8(a >> 24) * signed_byte(b, 24);
    return as_uint8(low) & 0xffffu | as_uint8(high) << 16;
}

inline int8 sums_of_eight(uint8 pairs)
{
    return (as_int8(pairs << 16) >> 16) + (as_int8(pairs) >> 16);
}
#endif

/* pairs: two sums of 16 bits in each lane, which must stay below 2^15 */
inline uintv add_pairs(uintv pairs, uintv a, __global const int *b)
{
    const uint8 x = (uint8)((uint)*b);
    const short16 low = as_short16(pairs.lo) + as_short16(pairs_of_eight(a.lo, x));
    const short16 high = as_short16(pairs.hi) + as_short16(pairs_of_eight(a.hi, x));
    return (uintv)(as_uint8(low), as_uint8(high));
}

inline intv sum_pairs(uintv pairs)
{
    return (intv)(sums_of_eight(pairs.lo), sums_of_eight(pairs.hi));
}

inline intv dot_bytes(intv sum, uintv a, __global const int *b)
{
    const uintv none = (uintv)(0);
    return sum + sum_pairs(add_pairs(none, a & 0x0f0f0f0fu, b)) + (sum_pairs(add_pairs(none, a >> 4 & 0x0f0f0f0fu, b)) << 4);
}
#else
inline intv dot_bytes(intv sum, uintv a, __global const int *b)
{
#ifdef __x86_64__
    __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(a), "m"(*(__private const int *)(uintptr_t)b));
    return sum;
#else
    const char4 four = as_char4(*b);
    sum += AS_INTV(a & 255u) * four.x + AS_INTV(a >> 8 & 255u) * four.y;
    return sum + AS_INTV(a >> 16 & 255u) * four.z + AS_INTV(a >> 24) * four.w;
#endif
}
#endif
