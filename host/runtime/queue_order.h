/* SPDX-License-Identifier: MIT */
/* Orders the queues of one process on PoCL before 6.0 (caps.mixes_grids), which otherwise ends the process.
 *
 * PoCL counts the users of each loaded kernel. It may have several entries for a kernel and a size of work-groups: one for a binary, and
 * one for every launch that had more work-groups in some dimension than all before it. When a launch ends, PoCL looks for its entry by
 * kernel and size alone and takes the newest. So two launches that began with different entries are mixed up: the assertion in
 * pocl_release_dlhandle_cache fails, or a kernel is unloaded while it runs. So a launch that is wider than all before, and the question for
 * a binary, wait until every other queue is idle. Launches of other libraries (CLBlast's) are not watched. */
#ifndef CLFI_RUNTIME_QUEUE_ORDER_H
#define CLFI_RUNTIME_QUEUE_ORDER_H

#include "base/hash.h"
#include "runtime/context.h"

/* Makes the queue one that others wait for, where the device needs that. A queue that the user gave is not added: it may wait for the user
 * himself. */
void clfi_queue_add(clf_context *context);
void clfi_queue_remove(clf_context *context);

/* clEnqueueNDRangeKernel; key: of the kernel's program in the cache; offset: in work-items, or NULL. */
cl_int clfi_queue_launch(clf_context *context, cl_kernel kernel, const char key[CLFI_HASH_TEXT_BYTES], cl_uint dimensions,
                         const size_t *offset, const size_t *global, const size_t *local, cl_event *event);

/* Between these two, no queue that was added does anything, and launches wait. */
void clfi_queues_stop(clf_context *context);
void clfi_queues_go(clf_context *context);

#endif
