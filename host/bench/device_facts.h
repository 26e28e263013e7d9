/* SPDX-License-Identifier: MIT */
/* What a record tells of a device. */
#ifndef CLFI_BENCH_DEVICE_FACTS_H
#define CLFI_BENCH_DEVICE_FACTS_H

#include <jansson.h>

#include "runtime/device.h"

/* id (place in the list), name, platform, vendor, driver, OpenCL C, type, sizes, extensions; NULL: no memory. */
json_t *clfi_device_facts(const clf_device *device);

#endif
