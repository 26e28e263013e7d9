/* SPDX-License-Identifier: MIT */
/* Several programs compiled at once, on devices whose compiler is made for it (not clf_capabilities' serial_compiler). */
#ifndef CLFI_RUNTIME_PARALLEL_BUILD_H
#define CLFI_RUNTIME_PARALLEL_BUILD_H

#include "runtime/build_job.h"

/* Builds them in a thread for each processor, eight at most, and waits. context->on_build is called from this thread, before the first
 * and after each but the last. */
void clfi_parallel_build(clf_context *context, clf_build_job *jobs, size_t count);

#endif
