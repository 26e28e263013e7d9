/* SPDX-License-Identifier: MIT */
/* The device under test: CLF_DEVICE or the default. */
#ifndef CLF_TEST_DEVICE_H
#define CLF_TEST_DEVICE_H

#include "clformer/context.h"

/* cmocka group fixtures: *state is a clf_context. A machine without any device makes the program exit with 77, CTest's "skipped"; a
 * CLF_DEVICE that names no device is a failure. */
int device_setup(void **state);
int device_setup_cached(void **state); /* keeps the library's cache of programs on every device */
int device_teardown(void **state);

#endif
