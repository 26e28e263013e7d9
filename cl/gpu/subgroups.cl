/* SPDX-License-Identifier: MIT */
/* Sub-groups, by the name that the device has for them. */
#if HAS_SUBGROUPS
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#ifdef cl_intel_subgroups
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#endif
#endif
