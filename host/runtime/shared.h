/* SPDX-License-Identifier: MIT */
/* State that the contexts of one cl_context share, each with its own queue and thread: programs, and files that buffers use in place. */
#ifndef CLFI_RUNTIME_SHARED_H
#define CLFI_RUNTIME_SHARED_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "base/private_directory.h"
#include "runtime/context.h"

/* A built program, or one that cannot be built. Only handle, is_unsaved and is_void change later. */
typedef struct clf_program {
    cl_program handle;              /* NULL: see reason and is_void */
    char *reason;                   /* why it must not be compiled (again); NULL: it may be */
    char *kernel;                   /* the kernel's name; with the options, identifies the program */
    char *options;                  /* the compile-time options, as text */
    uint64_t hash;                  /* hash of the options */
    char key[CLFI_HASH_TEXT_BYTES]; /* its key in the cache on disk */
    bool is_unsaved;                /* to be written to the cache after the first launch */
    bool is_void;                   /* made for a cl_context that was lost; its texts stay, because profiles borrow them */
} clf_program;

typedef struct clf_shared {
    atomic_size_t references;
    atomic_bool is_stuck;         /* a queue did not finish: it may still read any file, so no file is unmapped any more */
    atomic_bool has_told;         /* an error in the log has already named an engine that is left out (op/left_out.h) */
    pthread_mutex_t lock;         /* guards everything below; held while a program is compiled, so that no second thread compiles it too */
    clf_private_directory *cache; /* of compiled programs; NULL: none */
    struct clf_compiler_pool *compilers; /* of runtime/compiler_pool.h; NULL: kernels are compiled in this process */
    clf_program **programs;
    size_t count, capacity;
    clf_buffer *mapped;     /* buffers that use a file or the caller's memory in place */
    char changed_file[512]; /* message if a file was changed while a queue used it: reads fail from then on; "": none */
} clf_shared;

void clfi_program_destroy(clf_program *program);

/* Voids all programs, because their cl_context was lost, and clears is_stuck for the new queue. Files that the lost queue used in place are
 * never unmapped, because their buffers are of an earlier opening (clf_buffer.opening). */
void clfi_shared_void(clf_shared *shared);

clf_status clfi_shared_create(clf_shared **out);
clf_shared *clfi_shared_retain(clf_shared *shared);
void clfi_shared_release(clf_shared *shared); /* NULL is a no-op */

#endif
