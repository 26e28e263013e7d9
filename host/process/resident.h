/* SPDX-License-Identifier: MIT */
/* Measures the resident memory of this process, for benchmarks, statistics and the server's metrics. */
#ifndef CLFI_PROCESS_RESIDENT_H
#define CLFI_PROCESS_RESIDENT_H

#include <stddef.h>

/* Returns free heap memory to the system (glibc) and resets the peak (Linux). On other systems the peak stays that of the process's whole
 * life. */
void clfi_resident_reset(void);

/* The largest resident set since the reset, in bytes; 0: not known. */
size_t clfi_resident_peak_bytes(void);

/* The resident set now, in bytes; 0: not known (systems without /proc). */
size_t clfi_resident_bytes(void);

#endif
