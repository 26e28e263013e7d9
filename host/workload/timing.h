/* SPDX-License-Identifier: MIT */
/* Measures the times of one run for workloads: on the host's clock, and on the device's by the events of its kernels. */
#ifndef CLFI_WORKLOAD_TIMING_H
#define CLFI_WORKLOAD_TIMING_H

#include "runtime/context.h"
#include "workload/workload.h"

/* Times call(state) on an idle queue; the call itself waits for its result. Device time is the sum over the events of its kernels. It is
 * known only in profiling contexts, and only if no product ran in CLBlast, which returns just the event of its last kernel. Forwards
 * failures of the call and of the queue. */
clf_status clfi_time_call(clf_context *context, clf_status (*call)(void *state), void *state, clfi_sample *out);

#endif
