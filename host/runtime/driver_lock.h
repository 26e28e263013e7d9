/* SPDX-License-Identifier: MIT */
/* A lock for driver calls that threads of this process must not make at the same time, even if their contexts differ. */
#ifndef CLFI_RUNTIME_DRIVER_LOCK_H
#define CLFI_RUNTIME_DRIVER_LOCK_H

#include <stdbool.h>

/* Sets the drivers' environment variables, once for the process and before its first OpenCL call; variables that the user set stay. */
void clfi_driver_prepare(void);

/* Taken while devices are listed, and while kernels are compiled on devices whose compiler takes one thread (caps.serial_compiler). No-op
 * if is_needed is false. Not recursive. */
void clfi_driver_lock(bool is_needed);
void clfi_driver_unlock(bool is_needed);

#endif
