/* SPDX-License-Identifier: MIT */
/* Several programs compiled at once, on devices whose compiler is made for it (not clf_capabilities' serial_compiler). */
#ifndef CLFI_RUNTIME_PARALLEL_BUILD_H
#define CLFI_RUNTIME_PARALLEL_BUILD_H

#include "base/str.h"
#include "runtime/context.h"
#include "runtime/kernel_spec.h"

/* A program to build. Belongs to the caller, the program that is made too. */
typedef struct clf_build_job {
    const clf_kernel_spec *spec; /* without parts */
    clf_str source;              /* of clfi_program_source */
    cl_program program;          /* the result; NULL: it could not be built, and clfi_program_build tells why */
} clf_build_job;

/* Builds them in a thread for each processor, eight at most, and waits. context->on_build is called from this thread, before the first
 * and after each but the last. */
void clfi_parallel_build(clf_context *context, clf_build_job *jobs, size_t count);

#endif
