/* SPDX-License-Identifier: MIT */
/* Sub-groups, by the name that the device has for them; Intel's compilers warn of the other name, though they define it too. */
#if HAS_SUBGROUPS
#if defined(cl_intel_subgroups)
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#elif defined(cl_khr_subgroups)
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#endif
