/* SPDX-License-Identifier: MIT */
/* Programs compiled by child processes (runtime/compiler.h), several at once, which write them into the cache on disk; from there they are
 * loaded. So a compiler that crashes or hangs ends none but its own process, and compilers that are not made for threads run side by
 * side. */
#ifndef CLFI_RUNTIME_OUTSIDE_BUILD_H
#define CLFI_RUNTIME_OUTSIDE_BUILD_H

#include "runtime/build_job.h"

/* Whether programs of this context are compiled so: there is a cache, and a program that compiles. */
bool clfi_outside_build_is_possible(const clf_context *context);

/* Builds them and waits. Where a process crashed twice on a program, or was ended after its time limit, the job's reason says so, and it is
 * remembered (runtime/unusable.h). A job that is left with neither program nor reason is to be built in this process. Either its source has
 * an error, which the driver reports, or no other process can compile for this device, which is logged once. context->on_build is called
 * before the first and after each but the last. Under the lock of what contexts share. */
void clfi_outside_build(clf_context *context, clf_build_job *jobs, size_t count); /* of a job with a probe: runs it */

#endif
