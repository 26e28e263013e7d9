/* SPDX-License-Identifier: MIT */
/* Allocations. The C library's own functions are reached by their internal names: looking them up would allocate. */
#include "shim.h"

#include <errno.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static bool strikes(const void *caller, const char *call)
{
    if (!shim_strikes(SHIM_MEMORY, caller, call, NULL))
        return false;
    errno = ENOMEM;
    return true;
}

static void *keep(void *block, const void *caller)
{
    if (shim_watches_memory(caller))
        shim_block_add(block, caller);
    return block;
}

void *malloc(size_t size)
{
    return strikes(SHIM_CALLER, "malloc") ? NULL : keep(__libc_malloc(size), SHIM_CALLER);
}

void *calloc(size_t count, size_t size)
{
    return strikes(SHIM_CALLER, "calloc") ? NULL : keep(__libc_calloc(count, size), SHIM_CALLER);
}

void *realloc(void *block, size_t size)
{
    if (strikes(SHIM_CALLER, "realloc"))
        return NULL;
    shim_block_remove(block); /* before: another thread may get the address as soon as it is free */
    void *fresh = __libc_realloc(block, size);
    keep(fresh || size == 0 ? fresh : block, SHIM_CALLER);
    return fresh;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return strikes(SHIM_CALLER, "aligned_alloc") ? NULL : keep(__libc_memalign(alignment, size), SHIM_CALLER);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (strikes(SHIM_CALLER, "posix_memalign"))
        return ENOMEM;
    void *block = keep(__libc_memalign(alignment, size), SHIM_CALLER);
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

void free(void *block)
{
    shim_block_remove(block);
    __libc_free(block);
}
