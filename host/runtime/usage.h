/* SPDX-License-Identifier: MIT */
/* Counts the device memory in use: every buffer, and host memory used in place. The arena keeps its blocks for later
 * calls, so only its regions that are in use are counted, and the number describes the current work. Allocations by the driver itself
 * or by CLBlast are not counted. */
#ifndef CLFI_RUNTIME_USAGE_H
#define CLFI_RUNTIME_USAGE_H

#include "runtime/context.h"

uint64_t clfi_usage_bytes(const clf_context *context);

/* The most bytes in use at once since the last clfi_usage_restart, or since the context was created. */
uint64_t clfi_usage_peak_bytes(const clf_context *context);
void clfi_usage_restart(clf_context *context);

/* buffer.c and arena.c call this after they took memory. */
void clfi_usage_grown(clf_context *context);

#endif
