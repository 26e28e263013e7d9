/* SPDX-License-Identifier: MIT */
/* The times of one run: on the host's clock, and on the device's by the events of its kernels. */
#ifndef CLFI_WORKLOAD_TIMING_H
#define CLFI_WORKLOAD_TIMING_H

#include "runtime/context.h"
#include "workload/workload.h"

/* Wall time of call(state) on an idle queue; the call itself waits for its result. Device time is the sum over the events of its kernels:
 * known in profiling contexts, and where no product ran in CLBlast, which hands out the event of its last kernel only. */
clf_status clfi_time_call(clf_context *context, clf_status (*call)(void *state), void *state, clfi_sample *out);

#endif
