/* SPDX-License-Identifier: MIT */
/* Reference-counted device memory of one context. Contexts that share its cl_context use it too, each in a thread of its own: what
 * changes then is atomic. */
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
    clf_file_map *map;          /* host memory used in place, retained; NULL: the device's own */
    clf_buffer *next_mapped;    /* in the context's list */
    uint32_t opening;           /* context->openings when it was made */
    _Atomic uint64_t address;   /* on a device that runs launch graphs; 0: not asked for yet */
    _Atomic uint64_t recording; /* the number of the last one that holds it; where two do in turns, they may hold it twice */
};

/* New device memory; contents undefined. size 0 gives a buffer of the smallest legal size. OUT_OF_MEMORY: larger than the device's
 * largest allocation (named), or the driver has no more. *out holds one reference. */
clf_status clfi_buffer_create(clf_context *context, size_t size_bytes, clf_buffer **out);

/* The same for weights, which are read often and kept long: in huge pages where the device uses host memory as it is. DEVICE too: the
 * driver does not take a callback. */
clf_status clfi_buffer_create_lasting(clf_context *context, size_t size_bytes, clf_buffer **out);

/* Lets the device use a mapped file in place where the context's device can (unified memory, aligned pointer, size within the limit);
 * UNSUPPORTED otherwise, and then the caller copies. The buffer holds a reference to the mapping until the queue has finished with it;
 * where the queue does not finish, or that of another context which shares the memory did not, for ever. */
clf_status clfi_buffer_wrap(clf_context *context, clf_file_map *map, clf_buffer **out);

clf_buffer *clfi_buffer_retain(clf_buffer *buffer);
void clfi_buffer_release(clf_buffer *buffer); /* NULL is a no-op */

/* Synchronous transfers. INVALID_ARGUMENT: the range leaves the buffer. DEVICE: the driver refused. DEVICE_LOST. IO, reading: a file that
 * the context uses or used in place was changed meanwhile, so that the numbers may be wrong. */
clf_status clfi_buffer_write(clf_buffer *buffer, size_t offset_bytes, const void *data, size_t size_bytes);
clf_status clfi_buffer_read(clf_buffer *buffer, size_t offset_bytes, void *data, size_t size_bytes);

#endif
