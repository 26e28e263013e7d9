/* SPDX-License-Identifier: MIT */
/* Wraps the allocator that jansson had: remembers its failures, and counts and limits the bytes of a thread. */
#include "io/json_memory.h"

#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>

static json_malloc_t inner_malloc = malloc;
static json_free_t inner_free = free;
static bool is_counted = true; /* the inner allocator is malloc, so malloc_usable_size works on its blocks */

static _Thread_local bool has_failed;
static _Thread_local clf_json_account *open_account;

static void *allocate(size_t size)
{
    clf_json_account *account = is_counted ? open_account : NULL;
    if (account && (size > INT64_MAX / 2 || account->alive + (int64_t)size > account->limit)) {
        account->is_over = has_failed = true;
        return NULL;
    }
    void *block = inner_malloc(size);
    has_failed = has_failed || !block;
    if (account && block)
        account->alive += (int64_t)malloc_usable_size(block);
    return block;
}

static void release(void *block)
{
    if (is_counted && open_account && block)
        open_account->alive -= (int64_t)malloc_usable_size(block);
    inner_free(block);
}

/* Runs before main, or when the library is loaded. Blocks that jansson allocated earlier can still be freed: `release` passes every block
 * to the inner allocator. */
__attribute__((constructor)) static void put_in(void)
{
    json_get_alloc_funcs(&inner_malloc, &inner_free);
    is_counted = inner_malloc == malloc && inner_free == free;
    json_set_alloc_funcs(allocate, release);
}

/* The library may be unloaded before jansson is. */
__attribute__((destructor)) static void take_out(void)
{
    json_malloc_t present;
    json_get_alloc_funcs(&present, NULL);
    if (present == allocate)
        json_set_alloc_funcs(inner_malloc, inner_free);
}

bool clfi_json_memory_failed(void)
{
    const bool failed = has_failed;
    has_failed = false;
    return failed;
}

void clfi_json_memory_put_back(bool failed)
{
    has_failed = has_failed || failed;
}

void clfi_json_account_begin(clf_json_account *account, int64_t limit)
{
    *account = (clf_json_account){.limit = limit};
    open_account = account;
}

void clfi_json_account_end(void)
{
    open_account = NULL;
}
