/* SPDX-License-Identifier: MIT */
/* Enqueues a kernel. Its arguments are set in the kernel's order, and their number is checked against the kernel's.
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
    clf_kernel *kernel;              /* NULL in a rehearsal, or if the launch is recorded */
    struct clf_recording *recording; /* the launch is recorded there (runtime/recording.h); NULL: it is not recorded */
    size_t rehearsed;                /* in a rehearsal: index of the kernel in it */
    cl_uint argument;
    clf_work work; /* zeros: not stated, so the launch is never cut into pieces */
    clf_status status;
} clf_launch;

clf_launch clfi_launch(clf_context *context, const clf_kernel_spec *spec);

void clfi_arg_buffer(clf_launch *launch, const clf_buffer *buffer); /* NULL passes a null pointer */
void clfi_arg_int(clf_launch *launch, int64_t value);               /* int; UNSUPPORTED if the value does not fit */
void clfi_arg_long(clf_launch *launch, int64_t value);              /* long */
void clfi_arg_uint(clf_launch *launch, uint32_t value);             /* uint */
void clfi_arg_float(clf_launch *launch, float value);
void clfi_arg_bytes(clf_launch *launch, const void *value, size_t size); /* any by-value struct or vector */

/* As clfi_arg_bytes, for a kernel that can be part of a launch graph. type: the type's name in the kernel's source, a literal. */
void clfi_arg_struct(clf_launch *launch, const char *type, const void *value, size_t size);

/* States an upper bound of the whole launch's work. A launch over the device's budget is cut into pieces (runtime/launch_budget.h). Every
 * kernel whose work grows with its operands states it. An exponential counts as 8 multiply-adds. */
void clfi_launch_work(clf_launch *launch, double multiply_adds, double bytes);

/* Enqueues `groups` work-groups of `local` items in each dimension. If a dimension has 0 groups, nothing is enqueued, and the status is OK.
 * Returns the launch's first error. Others: INTERNAL: the number of arguments is wrong. UNSUPPORTED: too many work-items. OUT_OF_MEMORY,
 * DEVICE, DEVICE_LOST. */
clf_status clfi_launch_1d(clf_launch *launch, size_t groups, size_t local);
clf_status clfi_launch_2d(clf_launch *launch, size_t groups0, size_t groups1, size_t local0, size_t local1);
clf_status clfi_launch_3d(clf_launch *launch, const size_t groups[3], const size_t local[3]);

#endif
