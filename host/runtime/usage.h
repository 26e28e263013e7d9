/* SPDX-License-Identifier: MIT */
/* Device memory in use: every buffer, and host memory used in place; of the arena not its blocks, which stay for later calls, but the
 * regions that are handed out. So the figure is about the current work and not about earlier work. Allocations by the driver itself or by
 * CLBlast are not counted. */
#ifndef CLFI_RUNTIME_USAGE_H
#define CLFI_RUNTIME_USAGE_H

#include "runtime/context.h"

uint64_t clfi_usage_bytes(const clf_context *context);

/* The most that was in use at once since the last clfi_usage_restart, or since the context was created. */
uint64_t clfi_usage_peak_bytes(const clf_context *context);
void clfi_usage_restart(clf_context *context);

/* buffer.c and arena.c call this after they took memory. */
void clfi_usage_grown(clf_context *context);

#endif
