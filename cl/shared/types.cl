/* SPDX-License-Identifier: MIT */
/* Storage types and their float conversions: tensors are stored as f32, f16 or bf16 and always computed in f32.
 * load_x and store_x (pointer, element index) need no extension: halves go through vload_half, bf16 is the upper half of a float. */
#pragma OPENCL FP_CONTRACT ON

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define PASTE3_(a, b, c) a##b##c
#define PASTE3(a, b, c) PASTE3_(a, b, c)

#define DTYPE_F32 0
#define DTYPE_F16 1
#define DTYPE_BF16 2

inline float bf16_to_float(ushort bits)
{
    return as_float((uint)bits << 16);
}

/* Round to nearest even; NaN stays NaN. */
inline ushort float_to_bf16(float value)
{
    const uint bits = as_uint(value);
    const uint rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return (ushort)(isnan(value) ? ((bits >> 16) | 0x40u) : rounded);
}

inline float load_f32(__global const float *p, size_t i) { return p[i]; }
inline float load_f16(__global const half *p, size_t i) { return vload_half(i, p); }
inline float load_bf16(__global const ushort *p, size_t i) { return bf16_to_float(p[i]); }
inline void store_f32(__global float *p, size_t i, float v) { p[i] = v; }
inline void store_f16(__global half *p, size_t i, float v) { vstore_half_rte(v, i, p); }
inline void store_bf16(__global ushort *p, size_t i, float v) { p[i] = float_to_bf16(v); }
