/* SPDX-License-Identifier: MIT */
/* Creates the queue of a context. In the background, it asks the driver for low priority. */
#ifndef CLFI_RUNTIME_QUEUE_CREATE_H
#define CLFI_RUNTIME_QUEUE_CREATE_H

#include "runtime/context.h"

/* Whether $CLF_BACKGROUND asks for contexts in the background: it is set, and neither empty nor 0. */
bool clfi_background_is_set(void);

/* Creates an in-order queue, with profiling if the context has a profile. In the background, the queue gets hints of low priority and
 * throttling if the device has them and the driver accepts them. *out: the caller releases it. DEVICE: the driver refused the queue. */
clf_status clfi_queue_create(const clf_context *context, cl_context opencl, cl_command_queue *out);

#endif
