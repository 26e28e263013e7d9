/* SPDX-License-Identifier: MIT */
/* multiply_add of matrix_unit.cl: the instruction of each unit, on the device or emulated, and the instructions of a block. */
#include "matrix_unit.cl"
#include "matrix_emulated.cl"

/* Unrolls loops over blocks. Emulated, unrolled barriers would take compilers minutes. */
#if IS_EMULATED
#define UNROLL _Pragma("unroll 1")
#else
#define UNROLL _Pragma("unroll")
#endif

#if IS_INTEL && !IS_EMULATED /* older headers do not declare it, but their compilers have it */
#if UNIT == INTEL_16
float8 __attribute__((overloadable)) intel_sub_group_bf16_bf16_matrix_mad_k16(short8 a, int8 b, float8 c);
#else
float8 __attribute__((overloadable)) intel_sub_group_bf16_bf16_matrix_mad_k16(int8 a, int8 b, float8 c);
#endif
#endif

#if !IS_EMULATED
#if UNIT == NVIDIA_BF16
static inline float4 device_instruction(float4 c, uint4 a, uint2 b)
{
    ASM volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
                 : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
    return c;
}
#elif UNIT == NVIDIA_F16
static inline float4 device_instruction(float4 c, uint2 a, uint b)
{
    ASM volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
                 : "r"(a.x), "r"(a.y), "r"(b));
    return c;
}
#elif UNIT == AMD_GFX11
static inline float8 device_instruction(float8 c, uint8 a, uint8 b)
{
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(as_short16(a), as_short16(b), c);
}
#elif UNIT == AMD_GFX12
static inline float8 device_instruction(float8 c, uint4 a, uint4 b)
{
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(as_short8(a), as_short8(b), c);
}
#elif UNIT == AMD_CDNA
static inline float4 device_instruction(float4 c, uint2 a, uint2 b)
{
    return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(as_short4(a), as_short4(b), c, 0, 0, 0);
}
#elif UNIT == INTEL_16
static inline float8 device_instruction(float8 c, uint4 a, uint8 b)
{
    return intel_sub_group_bf16_bf16_matrix_mad_k16(as_short8(a), as_int8(b), c);
}
#else
static inline float8 device_instruction(float8 c, uint8 a, uint8 b)
{
    return intel_sub_group_bf16_bf16_matrix_mad_k16(as_int8(a), as_int8(b), c);
}
#endif

/* c += A B. Every lane of the wave calls it. */
static inline void multiply_add(wave w, sums *c, fragment a, fragment b)
{
#if UNIT == NVIDIA_BF16
    c->parts[0] = device_instruction(c->parts[0], a, b.xy);
    c->parts[1] = device_instruction(c->parts[1], a, b.zw);
#elif UNIT == NVIDIA_F16
    c->parts[0] = device_instruction(c->parts[0], a.xy, b.x);
    c->parts[0] = device_instruction(c->parts[0], a.zw, b.y);
    c->parts[1] = device_instruction(c->parts[1], a.xy, b.z);
    c->parts[1] = device_instruction(c->parts[1], a.zw, b.w);
#elif UNIT == INTEL_16
    c->parts[0] = device_instruction(c->parts[0], a.lo, b);
    c->parts[1] = device_instruction(c->parts[1], a.hi, b);
#elif UNIT == INTEL_8
    c->parts[0] = device_instruction(c->parts[0], a.lo, b.lo);
    c->parts[1] = device_instruction(c->parts[1], a.lo, b.hi);
    c->parts[2] = device_instruction(c->parts[2], a.hi, b.lo);
    c->parts[3] = device_instruction(c->parts[3], a.hi, b.hi);
#else
    c->parts[0] = device_instruction(c->parts[0], a, b);
#endif
}
#endif
