/* SPDX-License-Identifier: MIT */
/* Dot products of four bytes in each lane, sum + a.0 b.0 + ... + a.3 b.3, a without sign, b with one and the same in all lanes: the
 * instruction VPDPBUSD of AVX512-VNNI, which LLVM makes of no expression where it compiles for an older processor than it runs on, as PoCL
 * does. */
inline intv dot_bytes(intv sum, uintv a, __global const int *b)
{
    __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(a), "m"(*(__private const int *)(uintptr_t)b));
    return sum;
}
