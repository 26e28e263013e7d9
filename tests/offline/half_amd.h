/* SPDX-License-Identifier: MIT */
/* fma of half4 as AMD's own compiler has it, for LLVM 15, whose library lacks half precision: under the name that calls get. */
#if IS_HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
half4 half4_fma(half4 a, half4 b, half4 c) __asm("_Z3fmaDv4_DhS_S_");
__attribute__((always_inline)) half4 half4_fma(half4 a, half4 b, half4 c)
{
    return (half4)(__builtin_fmaf16(a.x, b.x, c.x), __builtin_fmaf16(a.y, b.y, c.y), __builtin_fmaf16(a.z, b.z, c.z),
                   __builtin_fmaf16(a.w, b.w, c.w));
}
#endif
