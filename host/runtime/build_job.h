/* SPDX-License-Identifier: MIT */
/* A program to build, as parallel_build.h (threads) and outside_build.h (processes) take several of them at once. */
#ifndef CLFI_RUNTIME_BUILD_JOB_H
#define CLFI_RUNTIME_BUILD_JOB_H

#include "base/str.h"
#include "runtime/context.h"
#include "runtime/kernel_spec.h"

/* Belongs to the caller, with all that is made for it. */
typedef struct clf_build_job {
    const clf_kernel_spec *spec;
    const char *key;    /* in the cache, borrowed */
    clf_str source;     /* of clfi_program_source */
    cl_program program; /* the result; NULL: it could not be built, and clfi_program_build tells why */
    clf_str reason;     /* why the driver's compiler must not be given this program; empty: it may */
    clf_str request;    /* of outside_build.c */
    int starts;         /* of outside_build.c: how often it was begun */
    int probe;          /* a clf_probe to run in the process in place of a build, which keeps its answer in the cache; 0: none */
} clf_build_job;

void clfi_build_job_clear(clf_build_job *job); /* all but the result */

#endif
