/* SPDX-License-Identifier: MIT */
/* Engines that a context does without, because the driver's compiler crashes or hangs on one of their kernels (runtime/outside_build.h).
 * They are remembered in the cache directory for this driver and these kernels, so that later contexts leave them out before weights are
 * packed for them. */
#ifndef CLFI_OP_LEFT_OUT_H
#define CLFI_OP_LEFT_OUT_H

#include "op/engines.h"

/* The engine's bit in context->asker and context->unbuilt. */
uint64_t clfi_engine_bit(const clf_engine *engine);

/* Whether the context does without it. What the runtime noted since the last question goes to the log and is remembered. */
bool clfi_engine_is_left_out(const clf_context *context, const clf_engine *engine);

/* For people, a line for each: "gemm=packed: kernel x: the driver's compiler ...\n", and one for launch graphs; "" where there is none.
 * Borrowed from the context until the next question. */
const char *clfi_engines_left_out(const clf_context *context);

/* Appends the same lines as far as they are remembered for a device. OUT_OF_MEMORY only. */
clf_status clfi_engines_remembered(const clf_device_info *device, clf_str *out);

/* Runs the engine. *out_was_lost: it failed because it is left out from now on, and another one can take its place: an engine reads
 * nothing that it has overwritten before all of its kernels were found. */
clf_status clfi_engine_start(clf_context *context, const clf_engine *engine, const void *args, bool *out_was_lost);

#endif
