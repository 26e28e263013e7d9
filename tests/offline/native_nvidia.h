/* SPDX-License-Identifier: MIT */
/* native_exp2 as NVIDIA's own compiler has it, for LLVM 15, whose library lacks it. */
#define native_exp2 nvidia_exp2

static __attribute__((overloadable)) float nvidia_exp2(float x)
{
    return __nvvm_ex2_approx_ftz_f(x);
}

static __attribute__((overloadable)) float4 nvidia_exp2(float4 x)
{
    return (float4)(nvidia_exp2(x.x), nvidia_exp2(x.y), nvidia_exp2(x.z), nvidia_exp2(x.w));
}
