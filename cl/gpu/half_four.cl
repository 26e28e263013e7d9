/* SPDX-License-Identifier: MIT */
/* Four numbers in half precision, of devices with cl_khr_fp16. Element by element: compilers join them, and not every library of built-in
 * functions has the vectors' conversions. */
#ifndef IS_HALF
#error "IS_HALF: 0 or 1"
#endif
#if IS_HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* Rounded to nearest even. From 65520 on a number becomes infinite, and below 2^-14 it is a multiple of 2^-24: runtime/probe_cases.c. */
inline half4 half_of_four(float4 v) { return (half4)((half)v.x, (half)v.y, (half)v.z, (half)v.w); }
inline float4 four_of_half(half4 v) { return (float4)((float)v.x, (float)v.y, (float)v.z, (float)v.w); }
#endif
