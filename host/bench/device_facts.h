/* SPDX-License-Identifier: MIT */
/* Collects facts about a device for the result file of clformer bench. */
#ifndef CLFI_BENCH_DEVICE_FACTS_H
#define CLFI_BENCH_DEVICE_FACTS_H

#include <jansson.h>

#include "runtime/context.h"

/* id (index in the list of devices), name, platform, vendor, driver, OpenCL C, type, sizes, extensions. The caller releases it. NULL:
 * not enough memory. */
json_t *clfi_device_facts(const clf_device *device);

/* Facts that only an open device has, after its engines were chosen; the caller releases *out. "tuned": choices of clformer tune are in
 * use. "first_use": choices that were measured at a first use (op/tuned.h). "clblast_parameters": "default", or an object by kernel.
 * OUT_OF_MEMORY. */
clf_status clfi_device_tuning(const clf_context *context, json_t **out);

#endif
