/* SPDX-License-Identifier: MIT */
/* Opens the device under test for a group of tests: CLF_DEVICE, else the default device. */
#ifndef CLF_TEST_DEVICE_H
#define CLF_TEST_DEVICE_H

#include "clformer/context.h"

/* cmocka group fixtures; *state: the clf_context. If the machine has no device, the program exits with 77, CTest's "skipped". If
 * CLF_DEVICE names no device, the setup fails. */
int device_setup(void **state);
int device_setup_cached(void **state); /* keeps the library's cache of programs on every device */

/* device_setup compiles kernels of the GPU family without optimisation on PoCL and Intel's runtime, where tests alone run them: that takes
 * a third of the time. This one optimises them on Intel's runtime, for a test whose kernels run longer than they compile. */
int device_setup_optimised(void **state);
int device_teardown(void **state);

uint64_t device_launches(const clf_context *context); /* kernels launched so far */

#endif
