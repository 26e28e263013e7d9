/* SPDX-License-Identifier: MIT */
/* Shared by the contexts of one cl_context, each with its own queue and thread: programs, and the files that buffers use in place. */
#ifndef CLFI_RUNTIME_SHARED_H
#define CLFI_RUNTIME_SHARED_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "base/private_directory.h"
#include "runtime/context.h"

/* A built program, or one that cannot be built. All but is_unsaved and is_void is constant. */
typedef struct clf_program {
    cl_program handle;              /* NULL: see reason */
    char *reason;                   /* why the driver's compiler must not be given it; NULL: it was built */
    char *kernel;                   /* the kernel's name, and ... */
    char *options;                  /* ... with it the key */
    uint64_t hash;                  /* of the options */
    char key[CLFI_HASH_TEXT_BYTES]; /* in the cache on disk */
    bool is_unsaved;                /* the cache's file is to be written after the first launch */
    bool is_void;                   /* of a cl_context that was lost; its texts stay, because profiles borrow them */
} clf_program;

typedef struct clf_shared {
    atomic_size_t references;
    atomic_bool is_stuck;         /* a queue did not finish: nobody knows what it still reads, and no file is unmapped any more */
    atomic_bool has_told;         /* a line of the log told which engine is left out (op/left_out.h) */
    pthread_mutex_t lock;         /* for everything below; held while a program is compiled, so that no second thread compiles it too */
    clf_private_directory *cache; /* of compiled programs; NULL: none */
    struct clf_compiler_pool *compilers; /* of runtime/compiler_pool.h; NULL: kernels are compiled in this process */
    clf_program **programs;
    size_t count, capacity;
    clf_buffer *mapped;     /* buffers that are files in place */
    char changed_file[512]; /* why no number may leave any more: a file was changed while a queue used it; or "" */
} clf_shared;

void clfi_program_destroy(clf_program *program);

/* The cl_context is lost: programs are void, and files in place of its queues are never unmapped. */
void clfi_shared_void(clf_shared *shared);

clf_status clfi_shared_create(clf_shared **out);
clf_shared *clfi_shared_retain(clf_shared *shared);
void clfi_shared_release(clf_shared *shared); /* NULL is a no-op */

#endif
