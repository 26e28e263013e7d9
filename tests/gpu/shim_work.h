/* SPDX-License-Identifier: MIT */
/* How long the shown GPU would take for a launch: from the sizes that the kernel was given, whatever the program itself believes. */
#ifndef CLF_TEST_GPU_SHIM_WORK_H
#define CLF_TEST_GPU_SHIM_WORK_H

#include <CL/cl.h>

#include "shown_devices.h"

/* Remembers the integers that a kernel was given. */
void shim_work_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value);

/* Milliseconds that the launch takes at least: at half of the multiply-adds that the device has, or at the bandwidth of its memory. 0 on
 * devices that are not timed; -1: the table does not know the kernel. $CLF_TEST_GPU_KEYS: keys that a query of attention sees, which no
 * argument tells. */
double shim_work_ms(const shown_device *d, cl_device_id device, cl_kernel kernel, const char *name, const size_t global[3],
                    const size_t local[3]);

#endif
