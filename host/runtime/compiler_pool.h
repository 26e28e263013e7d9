/* SPDX-License-Identifier: MIT */
/* A pool of compiling processes for contexts that share programs. It is empty until the first program is missing, has up to one process per
 * processor while many are missing, and keeps two for later programs. The first of these passes to the next pool of this process. Processes
 * end by themselves when they are idle for a while. */
#ifndef CLFI_RUNTIME_COMPILER_POOL_H
#define CLFI_RUNTIME_COMPILER_POOL_H

#include "runtime/compiler.h"

enum { CLFI_COMPILERS_MOST = 8 /* a compiler takes some hundred megabytes */ };

typedef struct clf_compiler_pool {
    char *path;     /* path of clformer-compile */
    double seconds; /* time limit for each kernel program */
    bool is_off;    /* clformer-compile cannot compile for this device: the library compiles itself */
    clf_compiler list[CLFI_COMPILERS_MOST];
} clf_compiler_pool;

/* path: $CLF_COMPILER; seconds: $CLF_COMPILE_SECONDS; NULL if not set. *out NULL: clformer-compile was not found.
 * INVALID_ARGUMENT: `seconds` is not a time. OUT_OF_MEMORY. */
clf_status clfi_compiler_pool_create(const char *path, const char *seconds, clf_compiler_pool **out);
void clfi_compiler_pool_destroy(clf_compiler_pool *pool); /* NULL is a no-op */

/* Starts process `at` of the list, or takes the one that an earlier pool left. IO: the system refused. */
clf_status clfi_compiler_pool_start(clf_compiler_pool *pool, size_t at);

/* Ends all processes but the first `kept`. */
void clfi_compiler_pool_trim(clf_compiler_pool *pool, size_t kept);

/* How many processes may run at once: one per processor, at most CLFI_COMPILERS_MOST. */
size_t clfi_compiler_pool_room(void);

#endif
