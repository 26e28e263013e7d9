/* SPDX-License-Identifier: MIT */
/* Compiles several programs at once in child processes (runtime/compiler.h). They write the programs into the cache on disk, from which
 * these are loaded. A compiler that crashes or hangs ends only its own process, and compilers that cannot run in several threads still run
 * at the same time. */
#ifndef CLFI_RUNTIME_OUTSIDE_BUILD_H
#define CLFI_RUNTIME_OUTSIDE_BUILD_H

#include "runtime/build_job.h"

/* Whether programs of this context are compiled in child processes: there is a cache and a clformer-compile, which has not proved useless,
 * and context->build_number is 0. */
bool clfi_outside_build_is_possible(const clf_context *context);

/* Builds the programs and waits. If a process ended twice on a program, or took too long, the job's reason says so. A crash or a hang is
 * also remembered (runtime/unusable.h). A job that is left with neither program nor reason is to be built in this process. Either its
 * source has an error, which the driver reports, or no child process can compile for this device, which is logged once. context->on_build
 * is called before the first job and after each one but the last. The caller holds the lock of context->shared. */
void clfi_outside_build(clf_context *context, clf_build_job *jobs, size_t count); /* a job with a probe is run, not built */

#endif
