/* SPDX-License-Identifier: MIT */
/* What a record tells of a device. */
#ifndef CLFI_BENCH_DEVICE_FACTS_H
#define CLFI_BENCH_DEVICE_FACTS_H

#include <jansson.h>

#include "runtime/context.h"

/* id (place in the list), name, platform, vendor, driver, OpenCL C, type, sizes, extensions; NULL: no memory. */
json_t *clfi_device_facts(const clf_device *device);

/* What only an open device tells, once what runs on it has made its choices: whether those of clformer tune are in use, those of a first
 * use (op/tuned.h), and CLBlast's parameters ("default", or an object by kernel). OUT_OF_MEMORY. */
clf_status clfi_device_tuning(const clf_context *context, json_t **out);

#endif
