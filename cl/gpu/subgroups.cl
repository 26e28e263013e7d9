/* SPDX-License-Identifier: MIT */
/* Enables the device's extension of sub-groups. Intel's compilers define both names, but warn if the second one is enabled.
 * SUBGROUPS: 0 uses none, 1 leaves their size to the compiler, a larger number is the size that SUBGROUP_SIZE requests. */
#if SUBGROUPS
#if defined(cl_intel_subgroups)
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#elif defined(cl_khr_subgroups)
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#endif
#if SUBGROUPS > 1
#define SUBGROUP_SIZE __attribute__((intel_reqd_sub_group_size(SUBGROUPS)))
#else
#define SUBGROUP_SIZE
#endif
