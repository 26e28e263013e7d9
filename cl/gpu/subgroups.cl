/* SPDX-License-Identifier: MIT */
/* Sub-groups, by the name that the device has for them; Intel's compilers warn of the other name, though they define it too.
 * SUBGROUPS: 0: none; 1: of the size that the compiler chooses; else of this size, which SUBGROUP_SIZE tells the compiler. */
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
