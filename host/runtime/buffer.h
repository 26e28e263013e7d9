/* SPDX-License-Identifier: MIT */
/* Reference-counted device memory of one context. Contexts that share its cl_context use it too, each in a thread of its own, so members
 * that change meanwhile are atomic. */
#ifndef CLFI_RUNTIME_BUFFER_H
#define CLFI_RUNTIME_BUFFER_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/file_map.h"
#include "runtime/context.h"

struct clf_buffer {
    clf_context *context; /* retained */
    cl_mem memory;
    size_t size_bytes;
    atomic_size_t references;
    clf_file_map *map;          /* file, or memory that the caller lends, used in place; retained. NULL: the driver allocated it */
    clf_buffer *next_mapped;    /* in context->shared->mapped */
    uint32_t opening;           /* context->openings when it was made */
    _Atomic uint64_t address;   /* on a device that runs launch graphs; 0: not known yet */
    _Atomic uint64_t recording; /* number of the last recording that retained it; a recording may retain it twice if two take turns */
};

/* New device memory; contents undefined. size 0 gives a small buffer. *out holds one reference. OUT_OF_MEMORY: larger than the device's
 * largest allocation (named), or the driver has no more. DEVICE: the driver refused for another reason. DEVICE_LOST. */
clf_status clfi_buffer_create(clf_context *context, size_t size_bytes, clf_buffer **out);

/* The same for weights, which are read often and kept long. It uses huge pages if the device uses host memory in place. DEVICE also if the
 * driver does not accept a callback. */
clf_status clfi_buffer_create_lasting(clf_context *context, size_t size_bytes, clf_buffer **out);

/* Lets the device use a mapped file in place. UNSUPPORTED: the device has memory of its own, its threads block signals, or the mapping is
 * not aligned; the caller copies the file instead. Other errors as clfi_buffer_create. The buffer keeps a reference to the mapping until
 * the queue has finished. If this queue or that of a context which shares the memory does not finish, the mapping is never released. */
clf_status clfi_buffer_wrap(clf_context *context, clf_file_map *map, clf_buffer **out);

clf_buffer *clfi_buffer_retain(clf_buffer *buffer);
void clfi_buffer_release(clf_buffer *buffer); /* NULL is a no-op */

/* Synchronous transfers; in a rehearsal they do nothing. INVALID_ARGUMENT: the range leaves the buffer. DEVICE: the driver refused.
 * DEVICE_LOST. IO (reading): a file that the context uses or used in place has changed meanwhile, so that the numbers may be wrong. */
clf_status clfi_buffer_write(clf_buffer *buffer, size_t offset_bytes, const void *data, size_t size_bytes);
clf_status clfi_buffer_read(clf_buffer *buffer, size_t offset_bytes, void *data, size_t size_bytes);

#endif
