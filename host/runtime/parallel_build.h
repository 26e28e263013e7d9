/* SPDX-License-Identifier: MIT */
/* Compiles several programs at once, for devices whose compiler takes several threads (clf_device_caps.serial_compiler false). */
#ifndef CLFI_RUNTIME_PARALLEL_BUILD_H
#define CLFI_RUNTIME_PARALLEL_BUILD_H

#include "runtime/build_job.h"

/* Builds the programs in one thread for each processor, eight at most, and waits. context->on_build is called from the caller's thread:
 * before the first program, and as programs are finished. */
void clfi_parallel_build(clf_context *context, clf_build_job *jobs, size_t count);

#endif
