/* SPDX-License-Identifier: MIT */
/* Does work at once, even while a context rehearses or records. A rehearsal (runtime/rehearsal.h) would only note its launches, and a
 * recording (runtime/recording.h) would record them. */
#ifndef CLFI_RUNTIME_ASIDE_H
#define CLFI_RUNTIME_ASIDE_H

#include "runtime/context.h"

/* State of the context that is set aside. */
typedef struct clf_aside {
    struct clf_rehearsal *rehearsal;
    struct clf_recording *recording;
    char *kernel_dump;
} clf_aside;

clf_aside clfi_aside_begin(clf_context *context);
clf_aside clfi_aside_begin_undumped(clf_context *context); /* also leaves kernels out of CLF_KERNEL_DUMP */
void clfi_aside_end(clf_context *context, clf_aside aside);

#endif
