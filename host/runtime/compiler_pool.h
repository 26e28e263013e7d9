/* SPDX-License-Identifier: MIT */
/* A pool of compiling processes for contexts that share programs. It is empty until the first program is missing, has up to one process per
 * processor while many are missing, and keeps two for later programs. The first of these passes to the next pool of this process. Processes
 * end by themselves when they are idle for a while. */
#ifndef CLFI_RUNTIME_COMPILER_POOL_H
#define CLFI_RUNTIME_COMPILER_POOL_H

#include "runtime/compiler.h"

enum { CLFI_COMPILERS_MOST = 8 /* a compiler takes some hundred megabytes */ };

typedef struct clf_compiler_pool {
    char *path;     /* of the program */
    double seconds; /* for each program */
    bool is_off;    /* it cannot compile for this device: the library does */
    clf_compiler list[CLFI_COMPILERS_MOST];
} clf_compiler_pool;

/* path: $CLF_COMPILER; seconds: $CLF_COMPILE_SECONDS; NULL where they are not set. *out NULL: there is no such program. OUT_OF_MEMORY. */
clf_status clfi_compiler_pool_create(const char *path, const char *seconds, clf_compiler_pool **out);
void clfi_compiler_pool_destroy(clf_compiler_pool *pool); /* NULL is a no-op */

/* Starts the process at `at`, or takes the one that another pool has left. IO: the system refused. */
clf_status clfi_compiler_pool_start(clf_compiler_pool *pool, size_t at);

/* Ends all but the first `kept`. */
void clfi_compiler_pool_trim(clf_compiler_pool *pool, size_t kept);

/* How many may run at once. */
size_t clfi_compiler_pool_room(void);

#endif
