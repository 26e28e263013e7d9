/* SPDX-License-Identifier: MIT */
/* Facts about a device for a record. */
#ifndef CLFI_BENCH_DEVICE_FACTS_H
#define CLFI_BENCH_DEVICE_FACTS_H

#include <jansson.h>

#include "runtime/context.h"

/* id (place in the list), name, platform, vendor, driver, OpenCL C, type, sizes, extensions; NULL: no memory. */
json_t *clfi_device_facts(const clf_device *device);

/* Facts that only an open device has, after its engines were chosen. They are whether the choices of clformer tune or those of a first use
 * (op/tuned.h) are in use, and CLBlast's parameters ("default", or an object by kernel). OUT_OF_MEMORY. */
clf_status clfi_device_tuning(const clf_context *context, json_t **out);

#endif
