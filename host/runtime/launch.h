/* SPDX-License-Identifier: MIT */
/* Enqueueing a kernel: arguments in the kernel's order, counted against the kernel's own number.
 *
 *     clf_launch l = clfi_launch(context, &spec);
 *     clfi_arg_buffer(&l, x);  clfi_arg_int(&l, n);
 *     clfi_launch_work(&l, multiply_adds, bytes);
 *     CLF_TRY(clfi_launch_1d(&l, groups, local));
 *
 * The first error sticks and is returned by the last call. */
#ifndef CLFI_RUNTIME_LAUNCH_H
#define CLFI_RUNTIME_LAUNCH_H

#include "runtime/buffer.h"
#include "runtime/program.h"

typedef struct clf_launch {
    clf_context *context;
    clf_kernel *kernel;              /* NULL in a rehearsal and where launches are recorded */
    struct clf_recording *recording; /* of runtime/recording.h: the launch goes there; NULL: it enters the queue */
    size_t rehearsed;                /* in a rehearsal: which of its kernels */
    cl_uint argument;
    clf_work work; /* zeros: not stated, and the launch is never cut */
    clf_status status;
} clf_launch;

clf_launch clfi_launch(clf_context *context, const clf_kernel_spec *spec);

void clfi_arg_buffer(clf_launch *launch, const clf_buffer *buffer); /* NULL passes a null pointer */
void clfi_arg_int(clf_launch *launch, int64_t value);               /* int; UNSUPPORTED when it does not fit */
void clfi_arg_long(clf_launch *launch, int64_t value);              /* long */
void clfi_arg_uint(clf_launch *launch, uint32_t value);             /* uint */
void clfi_arg_float(clf_launch *launch, float value);
void clfi_arg_bytes(clf_launch *launch, const void *value, size_t size); /* any by-value struct or vector */

/* The same in a kernel that can be part of a launch graph; type: what it is called in the kernel's source, a literal. */
void clfi_arg_struct(clf_launch *launch, const char *type, const void *value, size_t size);

/* States the work of the whole launch, at most. A device's budget cuts it into pieces (runtime/launch_budget.h). Every kernel whose work
 * grows with its operands states it; an exponential counts as 8 multiply-adds. */
void clfi_launch_work(clf_launch *launch, double multiply_adds, double bytes);

/* Enqueues `groups` work-groups of `local` items in each dimension. Any group count of 0: nothing to do, OK. */
clf_status clfi_launch_1d(clf_launch *launch, size_t groups, size_t local);
clf_status clfi_launch_2d(clf_launch *launch, size_t groups0, size_t groups1, size_t local0, size_t local1);
clf_status clfi_launch_3d(clf_launch *launch, const size_t groups[3], const size_t local[3]);

#endif
