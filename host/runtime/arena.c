/* SPDX-License-Identifier: MIT */
/* Temporary device memory. Blocks never move while a region is in use, and a release only moves the top. When no region is in use, one
 * block replaces several. Its size is the largest total of regions so far. */
#include "runtime/arena.h"

#include <stdint.h>

#include "base/alloc.h"
#include "runtime/usage.h"

enum { REGION_ALIGNMENT = 256, SMALLEST_BLOCK = 1 << 20 };

struct clf_arena {
    clf_buffer **blocks;
    size_t count, capacity;
    clf_arena_mark top;
    size_t most; /* peak of top.taken since the context was created, or the reserved size if larger */
};

clf_status clfi_arena_create(clf_arena **out)
{
    return clfi_alloc(1, sizeof **out, "arena", out);
}

static void release_blocks(clf_arena *arena)
{
    for (size_t i = 0; i < arena->count; i++) {
        clfi_context_retain(arena->blocks[i]->context); /* undoes add_block's release, because clfi_buffer_release releases too */
        clfi_buffer_release(arena->blocks[i]);
    }
    arena->count = 0;
}

void clfi_arena_destroy(clf_arena *arena)
{
    if (!arena)
        return;
    release_blocks(arena);
    free(arena->blocks);
    free(arena);
}

clf_arena_mark clfi_arena_top(const clf_context *context)
{
    return context->arena->top;
}

void clfi_arena_release(clf_context *context, clf_arena_mark mark)
{
    context->arena->top = mark;
    context->usage.arena_regions = mark.taken;
}

static void take(clf_context *context, size_t block, size_t offset, size_t size, clf_region *out)
{
    clf_arena *arena = context->arena;
    *out = (clf_region){arena->blocks[block], offset, size};
    arena->top = (clf_arena_mark){block, offset + size, arena->top.taken + size};
    arena->most = arena->top.taken > arena->most ? arena->top.taken : arena->most;
    context->usage.arena_regions = arena->top.taken;
    clfi_usage_grown(context);
}

static clf_status add_block(clf_context *context, size_t size)
{
    clf_arena *arena = context->arena;
    CLF_TRY(clfi_grow(&arena->blocks, &arena->capacity, arena->count + 1, sizeof *arena->blocks, "arena blocks"));
    context->usage.arena_blocks += size; /* before the buffer exists: the peak counts regions, not blocks */
    const clf_status st = clfi_buffer_create(context, size, &arena->blocks[arena->count]);
    if (st != CLF_OK) {
        context->usage.arena_blocks -= size;
        return st;
    }
    clfi_context_release(context); /* the context owns the arena: blocks must not keep the context alive */
    arena->count++;
    return CLF_OK;
}

/* Whether a launch graph that will be launched again holds a block. */
static bool is_held(const clf_arena *arena)
{
    for (size_t i = 0; i < arena->count; i++)
        if (atomic_load(&arena->blocks[i]->references) > 1)
            return true;
    return false;
}

/* Replaces several blocks by one, after the queue has finished, so that old and new blocks never exist at the same time. If the device
 * cannot allocate it, blocks are added as they are needed. */
static void merge(clf_context *context)
{
    clf_arena *arena = context->arena;
    char reason[CLFI_REASON_BYTES];
    if (is_held(arena) || (arena->count && clfi_context_finish_queue(context) != CL_SUCCESS))
        return;
    release_blocks(arena);
    context->usage.arena_blocks = 0;
    arena->top = (clf_arena_mark){0, 0, 0};
    clfi_reason_keep(reason);
    if (add_block(context, arena->most < SMALLEST_BLOCK ? SMALLEST_BLOCK : arena->most) != CLF_OK)
        clfi_reason_restore(reason);
}

void clfi_arena_reserve(clf_context *context, size_t size_bytes)
{
    clf_arena *arena = context->arena;
    if (size_bytes > arena->most && size_bytes <= context->device.caps.max_allocation_bytes)
        arena->most = size_bytes / REGION_ALIGNMENT * REGION_ALIGNMENT;
    if (arena->top.taken == 0 && (arena->count != 1 || arena->blocks[0]->size_bytes < arena->most))
        merge(context);
}

clf_status clfi_arena_alloc(clf_context *context, size_t size_bytes, clf_region *out)
{
    clf_arena *arena = context->arena;
    size_t size;
    if (!clfi_round_up(size_bytes ? size_bytes : 1, REGION_ALIGNMENT, &size))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "temporary memory of %zu bytes: not enough memory", size_bytes);
    if (arena->top.taken == 0 && arena->count > 1 && arena->most <= context->device.caps.max_allocation_bytes)
        merge(context);
    for (size_t block = arena->top.block; block < arena->count; block++) {
        const size_t used = block == arena->top.block ? arena->top.used : 0;
        if (arena->blocks[block]->size_bytes - used >= size) {
            take(context, block, used, size, out);
            return CLF_OK;
        }
    }
    CLF_TRY(add_block(context, size < SMALLEST_BLOCK ? SMALLEST_BLOCK : size));
    take(context, arena->count - 1, 0, size, out);
    return CLF_OK;
}
