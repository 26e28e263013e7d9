/* SPDX-License-Identifier: MIT */
/* Monotonic host time. */
#ifndef CLFI_BASE_CLOCK_H
#define CLFI_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds since an arbitrary start; never goes back. */
uint64_t clfi_now_ns(void);

#endif
