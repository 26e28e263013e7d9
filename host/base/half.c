/* SPDX-License-Identifier: MIT */
/* f16 and bf16 conversions in integer arithmetic and branch-free selections, so that compilers vectorise the array forms and no
 * flush-to-zero mode of the caller's can change a result. */
#include "base/half.h"

#include <string.h>

enum {
    F32_FRACTION = 23, /* stored significand bits */
    F16_FRACTION = 10,
    DROPPED = F32_FRACTION - F16_FRACTION,
    BIAS_STEP = 127 - 15 /* f32 exponent bias less f16's */
};

uint32_t clfi_f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float clfi_f32_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float clfi_f32_from_f16(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7fffu;
    const uint32_t normal = (magnitude << DROPPED) + ((uint32_t)BIAS_STEP << F32_FRACTION);
    const uint32_t special = (magnitude << DROPPED) | 0x7f800000u;
    /* A subnormal is an integer times 2^-24: both factors are normal floats and their product is exact. */
    const uint32_t subnormal = clfi_f32_bits((float)(int32_t)magnitude * 0x1p-24f);
    const uint32_t finite = magnitude < 0x0400u ? subnormal : normal;
    return clfi_f32_from_bits(sign | (magnitude < 0x7c00u ? finite : special));
}

float clfi_f32_from_bf16(uint16_t bits)
{
    return clfi_f32_from_bits((uint32_t)bits << 16);
}

uint16_t clfi_f16_from_f32(float value)
{
    const uint32_t bits = clfi_f32_bits(value);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t exponent = magnitude >> F32_FRACTION;
    /* Normal results: adding just under half a unit, plus the kept part's last bit, carries exactly when rounding to even rounds up;
     * a carry out of the significand raises the exponent, up to infinity. */
    const uint32_t odd = magnitude >> DROPPED & 1u;
    const uint32_t normal = (magnitude - ((uint32_t)BIAS_STEP << F32_FRACTION) + ((1u << (DROPPED - 1)) - 1u) + odd) >> DROPPED;
    /* Subnormal results: the significand with its hidden bit, shifted to multiples of 2^-24; below 2^-25 everything is shifted out. */
    const uint32_t below = exponent < BIAS_STEP + 1u ? BIAS_STEP + 1u - exponent : 0u;
    const uint32_t shift = DROPPED + (below < 12u ? below : 12u);
    const uint32_t significand = (magnitude & 0x007fffffu) | 0x00800000u;
    const uint32_t kept_odd = significand >> shift & 1u;
    const uint32_t subnormal = (significand + ((1u << (shift - 1u)) - 1u) + kept_odd) >> shift;
    const uint32_t finite = exponent <= BIAS_STEP ? subnormal : normal;
    const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u | (magnitude >> DROPPED & 0x3ffu) : 0x7c00u;
    return (uint16_t)(sign | (magnitude < 0x47800000u ? finite : special)); /* 0x47800000: 65536, above every rounding to 65504 */
}

uint16_t clfi_bf16_from_f32(float value)
{
    const uint32_t bits = clfi_f32_bits(value);
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    const uint32_t quiet = bits >> 16 | 0x0040u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

void clfi_f32_from_f16_array(const void *halves, size_t count, float *out)
{
    const unsigned char *in = halves;
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, in + i * sizeof half, sizeof half);
        out[i] = clfi_f32_from_f16(half);
    }
}

void clfi_f32_from_bf16_array(const void *bits, size_t count, float *out)
{
    const unsigned char *in = bits;
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, in + i * sizeof half, sizeof half);
        out[i] = clfi_f32_from_bf16(half);
    }
}

void clfi_f16_from_f32_array(const float *values, size_t count, void *out)
{
    unsigned char *to = out;
    for (size_t i = 0; i < count; i++) {
        const uint16_t half = clfi_f16_from_f32(values[i]);
        memcpy(to + i * sizeof half, &half, sizeof half);
    }
}

void clfi_bf16_from_f32_array(const float *values, size_t count, void *out)
{
    unsigned char *to = out;
    for (size_t i = 0; i < count; i++) {
        const uint16_t half = clfi_bf16_from_f32(values[i]);
        memcpy(to + i * sizeof half, &half, sizeof half);
    }
}
