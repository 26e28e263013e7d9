/* SPDX-License-Identifier: MIT */
/* A library to preload that fails one call of a program and counts what the program leaves behind.
 *
 *   CLF_FAULT=CLASS:N           the N-th call of a class fails, counted from 1 over the process and its children; absent: none fails
 *   CLF_FAULT_LIBRARY=1         the program's own calls are left alone, those of libclformer and of what it calls are not
 *   CLF_FAULT_REPORT=FILE       each process appends one line of JSON when it ends
 *   CLF_FAULT_TRACE=FILE        each call counted appends a line, "CLASS STACK", equal where it came the same way
 *   CLF_FAULT_STACKS=1          blocks left over are reported with the stack that allocated them
 *
 * The shim fails calls of the program itself (its executable and libclformer), not those that a driver or a library makes inside (jansson
 * ends the process where its scanner gets no memory). The report of blocks left over also counts those of libjansson, libutf8proc and
 * libpcre2, which the program releases, and objects of OpenCL whoever made them. */
#ifndef CLF_FAULTS_SHIM_H
#define CLF_FAULTS_SHIM_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum {
    SHIM_OPENCL, /* an OpenCL call returns CL_OUT_OF_RESOURCES */
    SHIM_MEMORY, /* an allocation returns NULL */
    SHIM_EIO,    /* a file or process operation fails with EIO */
    SHIM_ENOSPC, /* one that needs room on a disk fails with ENOSPC */
    SHIM_EINTR,  /* one that waits is interrupted */
    SHIM_SHORT,  /* one byte is read or written where more were asked for */
    SHIM_CLASS_COUNT
} shim_class;

/* Counts a call of a class; true: this one is to fail. what: the file or other thing that the call is about, or NULL. */
bool shim_strikes(shim_class class, const void *caller, const char *call, const char *what);

/* The same with errno set. */
bool shim_strikes_file(shim_class class, const void *caller, const char *call, const char *what);

/* True where the address lies in code whose allocations are watched. */
bool shim_watches_memory(const void *caller);
bool shim_watches(const void *caller);

/* Blocks and objects that exist, each a table of pointers. */
void shim_block_add(void *block, const void *caller);
void shim_block_remove(void *block);
void shim_mapping_add(void *mapping);
void shim_mapping_remove(void *mapping);

typedef enum { SHIM_CONTEXT, SHIM_QUEUE, SHIM_BUFFER, SHIM_PROGRAM, SHIM_KERNEL, SHIM_EVENT, SHIM_KIND_COUNT } shim_kind;
void shim_object_retain(shim_kind kind, void *object); /* made, or one reference more */
void shim_object_release(shim_kind kind, void *object);

/* Waits until the driver has called every destructor of a memory object, a second at most: what they free is not left over. */
void shim_destructors_wait(void);

#define SHIM_CALLER __builtin_return_address(0)
#define SHIM_REAL(name)            \
    static __typeof__(name) *real; \
    if (!real)                     \
    real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#endif
