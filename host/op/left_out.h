/* SPDX-License-Identifier: MIT */
/* Engines that a context leaves out, because the driver's compiler crashes or hangs on one of their kernels (runtime/outside_build.h).
 * They are remembered in the cache directory for this driver and these kernels, so that later contexts leave them out before weights are
 * packed for them. */
#ifndef CLFI_OP_LEFT_OUT_H
#define CLFI_OP_LEFT_OUT_H

#include "op/engines.h"

/* The engine's bit in context->asker and context->unbuilt. */
uint64_t clfi_engine_bit(const clf_engine *engine);

/* Whether the context leaves the engine out. Engines that the runtime marked in context->unbuilt since the last call are logged and
 * remembered first. */
bool clfi_engine_is_left_out(const clf_context *context, const clf_engine *engine);

/* Text for users with a line for each engine, "gemm=packed: kernel x: the driver's compiler ...\n", and one for launch graphs; "" if there
 * are none. Borrowed from the context until the next call of these functions. */
const char *clfi_engines_left_out(const clf_context *context);

/* Appends the lines that are remembered for a device. Its only error is OUT_OF_MEMORY. */
clf_status clfi_engines_remembered(const clf_device_info *device, clf_str *out);

/* Runs the engine. *out_was_lost: it failed and is left out from now on. Another engine can then run with the same args, because an engine
 * overwrites none of its inputs before all of its kernels were found. */
clf_status clfi_engine_start(clf_context *context, const clf_engine *engine, const void *args, bool *out_was_lost);

#endif
