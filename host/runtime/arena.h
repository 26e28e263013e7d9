/* SPDX-License-Identifier: MIT */
/* Temporary device memory of a context: a stack of regions inside large buffers that are kept between calls, so that a pass whose
 * sizes were seen before allocates nothing. A region may be handed out again while kernels that use it are still queued, because the
 * context has one in-order queue. */
#ifndef CLFI_RUNTIME_ARENA_H
#define CLFI_RUNTIME_ARENA_H

#include <stddef.h>

#include "runtime/buffer.h"

/* A region; the buffer is borrowed from the arena. */
typedef struct clf_region {
    clf_buffer *buffer;
    size_t offset_bytes; /* multiple of 256 */
    size_t size_bytes;
} clf_region;

typedef struct clf_arena_mark {
    size_t block;
    size_t used;
    size_t taken; /* bytes of all regions up to here */
} clf_arena_mark;

clf_status clfi_arena_create(clf_arena **out);
void clfi_arena_destroy(clf_arena *arena);

/* Returns the current top. clfi_arena_release frees all regions that were allocated after it. Every op pairs the two calls. */
clf_arena_mark clfi_arena_top(const clf_context *context);
void clfi_arena_release(clf_context *context, clf_arena_mark mark);

/* Allocates one block for regions of `size_bytes` bytes together, if no region is in use. If the device cannot allocate it, nothing
 * changes: blocks are added when they are needed. */
void clfi_arena_reserve(clf_context *context, size_t size_bytes);

/* Allocates a region. Errors as clfi_buffer_create. If no region is in use and there are several blocks, one block replaces them. */
clf_status clfi_arena_alloc(clf_context *context, size_t size_bytes, clf_region *out);

#endif
