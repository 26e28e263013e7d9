/* SPDX-License-Identifier: MIT */
/* Orders the launches of all queues of one process on PoCL before 6.0 (caps.mixes_grids), which otherwise ends the process.
 *
 * PoCL counts the users of each loaded kernel. It may have several entries for a kernel and a size of work-groups: one for a binary, and
 * one for every launch that had more work-groups in some dimension than all before it. When a launch ends, PoCL looks for its entry by
 * kernel and size alone and takes the newest. So two launches that began with different entries are mixed up: the assertion in
 * pocl_release_dlhandle_cache fails, or a kernel is unloaded while it runs. Therefore a launch that is wider than all before, and the query
 * of a binary, wait until every other queue is idle. Launches of other libraries (CLBlast's) are not watched. */
#ifndef CLFI_RUNTIME_QUEUE_ORDER_H
#define CLFI_RUNTIME_QUEUE_ORDER_H

#include "base/hash.h"
#include "runtime/context.h"

/* Adds the context's queue to those that others wait for; no-op unless caps.mixes_grids. The queue of a borrowed context is not added,
 * because it may wait for its owner, the caller. */
void clfi_queue_add(clf_context *context);
void clfi_queue_remove(clf_context *context);

/* Calls clEnqueueNDRangeKernel and returns its code. key: of the kernel's program in the cache. offset: in work-items, or NULL. event:
 * NULL: not wanted. */
cl_int clfi_queue_launch(clf_context *context, cl_kernel kernel, const char key[CLFI_HASH_TEXT_BYTES], cl_uint dimensions,
                         const size_t *offset, const size_t *global, const size_t *local, cl_event *event);

/* Between these two calls, all added queues are idle, and launches wait. No-ops unless caps.mixes_grids. */
void clfi_queues_stop(clf_context *context);
void clfi_queues_go(clf_context *context);

#endif
