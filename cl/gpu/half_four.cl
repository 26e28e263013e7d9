/* SPDX-License-Identifier: MIT */
/* Converts four numbers to half precision and back, on devices with cl_khr_fp16. It works element by element: compilers join the
 * conversions, and not every library of built-in functions has those of vectors. */
#ifndef IS_HALF
#error "IS_HALF: 0 or 1"
#endif
#if IS_HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* Rounded to nearest even. From 65520 on a number becomes infinite, and below 2^-14 it is a multiple of 2^-24; a probe tests both
 * (runtime/probe_cases.c). */
inline half4 half_of_four(float4 v) { return (half4)((half)v.x, (half)v.y, (half)v.z, (half)v.w); }
inline float4 four_of_half(half4 v) { return (float4)((float)v.x, (float)v.y, (float)v.z, (float)v.w); }
#endif
