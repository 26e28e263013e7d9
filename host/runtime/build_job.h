/* SPDX-License-Identifier: MIT */
/* A program to build. parallel_build.h (threads) and outside_build.h (processes) build several of them at once. */
#ifndef CLFI_RUNTIME_BUILD_JOB_H
#define CLFI_RUNTIME_BUILD_JOB_H

#include "base/str.h"
#include "runtime/context.h"
#include "runtime/kernel_spec.h"

/* The caller owns the job and everything that is made for it. */
typedef struct clf_build_job {
    const clf_kernel_spec *spec;
    const char *key;    /* the program's key in the cache, borrowed */
    clf_str source;     /* made by clfi_program_source */
    cl_program program; /* the result; NULL: it could not be built, and clfi_program_build reports why */
    clf_str reason;     /* why the driver's compiler must not be given this program; empty: it may */
    clf_str request;    /* used by outside_build.c: the message to a compiling process */
    int starts;         /* used by outside_build.c: how often it was begun */
    int probe;          /* a clf_probe that the process runs instead of building; it keeps the answer in the cache; 0: none */
} clf_build_job;

void clfi_build_job_clear(clf_build_job *job); /* frees everything but the result */

#endif
