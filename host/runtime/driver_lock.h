/* SPDX-License-Identifier: MIT */
/* Locks for driver calls that threads of this process must not make at the same time, whatever contexts they have. */
#ifndef CLFI_RUNTIME_DRIVER_LOCK_H
#define CLFI_RUNTIME_DRIVER_LOCK_H

#include <stdbool.h>

/* Sets the drivers' environment variables, once for the process and before its first OpenCL call; variables that the user set stay. */
void clfi_driver_prepare(void);

/* Around enumeration, and around compiling where the device's compiler is not for several threads; is_needed false: nothing happens. Not
 * recursive. */
void clfi_driver_lock(bool is_needed);
void clfi_driver_unlock(bool is_needed);

#endif
