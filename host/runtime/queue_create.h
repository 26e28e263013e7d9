/* SPDX-License-Identifier: MIT */
/* Makes the queue of a context, which in the background asks the driver for the least priority. */
#ifndef CLFI_RUNTIME_QUEUE_CREATE_H
#define CLFI_RUNTIME_QUEUE_CREATE_H

#include "runtime/context.h"

/* Whether $CLF_BACKGROUND asks for contexts in the background: it is set, and not 0. */
bool clfi_background_is_set(void);

/* A queue in order, with events where the context profiles. In the background, hints of low priority and throttling where the device has
 * them; a driver that refuses them gets none. *out: the caller releases it. DEVICE: the driver refused the queue. */
clf_status clfi_queue_create(const clf_context *context, cl_context opencl, cl_command_queue *out);

#endif
