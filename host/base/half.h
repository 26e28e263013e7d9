/* SPDX-License-Identifier: MIT */
/* float <-> IEEE binary16 (f16) and bfloat16 (bf16) on the host, bit for bit as OpenCL's vload_half and vstore_half_rte. */
#ifndef CLFI_BASE_HALF_H
#define CLFI_BASE_HALF_H

#include <stddef.h>
#include <stdint.h>

/* The bits of a float and back. */
uint32_t clfi_f32_bits(float value);
float clfi_f32_from_bits(uint32_t bits);

/* Exact, subnormals included. NaN stays NaN with its sign. */
float clfi_f32_from_f16(uint16_t half);
float clfi_f32_from_bf16(uint16_t bits);

/* Round to nearest, ties to even; too large becomes infinity, too small a subnormal or zero of the same sign. NaN becomes a quiet NaN
 * that keeps its sign. IEEE 754-2019, sections 3.6 and 4.3.1. */
uint16_t clfi_f16_from_f32(float value);
uint16_t clfi_bf16_from_f32(float value);

/* Whole arrays; the 16-bit side may have any alignment. The two may not overlap. */
void clfi_f32_from_f16_array(const void *halves, size_t count, float *out);
void clfi_f32_from_bf16_array(const void *bits, size_t count, float *out);
void clfi_f16_from_f32_array(const float *values, size_t count, void *out);
void clfi_bf16_from_f32_array(const float *values, size_t count, void *out);

#endif
