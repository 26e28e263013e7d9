/* SPDX-License-Identifier: MIT */
/* Resident memory of this process. */
#ifndef CLFI_PROCESS_RESIDENT_H
#define CLFI_PROCESS_RESIDENT_H

#include <stddef.h>

/* Gives free heap memory back and lets the peak begin anew, where the system can (Linux); elsewhere the peak stays that of the process's
 * life. */
void clfi_resident_reset(void);

/* Largest resident set since the reset. */
size_t clfi_resident_peak_bytes(void);

/* The resident set now; 0 where the system does not tell. */
size_t clfi_resident_bytes(void);

#endif
