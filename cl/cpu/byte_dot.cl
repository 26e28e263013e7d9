/* SPDX-License-Identifier: MIT */
/* Dot products of four bytes in each lane, sum + a.0 b.0 + ... + a.3 b.3, a without sign, b with one and the same in all lanes: the
 * instruction VPDPBUSD of AVX512-VNNI, which LLVM makes of no expression where it compiles for an older processor than it runs on, as PoCL
 * does. Another processor's compiler checks the sum as it is written out. */
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
