/* SPDX-License-Identifier: MIT */
/* Allocates chunks of host memory in huge pages. */
#include "runtime/huge_pages.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "runtime/slot.h"

enum {
    SMALL_PAGE = 4096,
    HUGE_PAGE = 2 << 20,
    CHUNK_BYTES = 32 << 20,
    SHARED_BYTES = 4 << 20 /* larger pieces have a chunk of their own */
};

struct clf_page_chunk {
    char *data;
    size_t size, used;
    atomic_size_t holders; /* its pieces, and the context that takes them from it */
};

/* The chunk that a context takes pieces from. */
typedef struct page_state {
    clf_page_chunk *current;
} page_state;

static clf_status create_chunk(size_t size, clf_page_chunk **out)
{
    clf_page_chunk *chunk;
    size_t whole;
    if (!clfi_round_up(size, HUGE_PAGE, &whole))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "buffer of %zu bytes: not enough memory", size);
    CLF_TRY(clfi_alloc(1, sizeof *chunk, "memory of buffers", &chunk));
    chunk->data = aligned_alloc(HUGE_PAGE, whole);
    if (!chunk->data) {
        free(chunk);
        CLF_FAIL(CLF_OUT_OF_MEMORY, "memory of buffers: %zu bytes: not enough memory", whole);
    }
#ifdef MADV_HUGEPAGE
    madvise(chunk->data, whole, MADV_HUGEPAGE); /* a hint, which kernels without huge pages refuse */
#endif
    chunk->size = whole;
    chunk->used = 0;
    atomic_init(&chunk->holders, 1);
    *out = chunk;
    return CLF_OK;
}

void clfi_page_chunk_release(clf_page_chunk *chunk)
{
    if (!chunk || atomic_fetch_sub_explicit(&chunk->holders, 1, memory_order_acq_rel) > 1)
        return;
    free(chunk->data);
    free(chunk);
}

static void clear_state(void *content)
{
    clfi_page_chunk_release(((page_state *)content)->current);
}

static const clf_slot_type page_slot = {"memory of buffers", sizeof(page_state), clear_state};

/* Makes sure that the current chunk has room. */
static clf_status find_room(page_state *state, size_t size)
{
    clf_page_chunk *chunk = state->current;
    if (chunk && atomic_load_explicit(&chunk->holders, memory_order_acquire) == 1)
        chunk->used = 0; /* all pieces were given back */
    if (chunk && size <= chunk->size - chunk->used)
        return CLF_OK;
    CLF_TRY(create_chunk(CHUNK_BYTES, &state->current));
    clfi_page_chunk_release(chunk);
    return CLF_OK;
}

clf_status clfi_page_chunk_take(clf_context *context, size_t size, clf_page_chunk **out_chunk, void **out_data)
{
    page_state *state;
    if (size > SHARED_BYTES) {
        CLF_TRY(create_chunk(size, out_chunk));
        *out_data = (*out_chunk)->data;
        return CLF_OK;
    }
    CLF_TRY(clfi_slot_get(context, &page_slot, &state));
    CLF_TRY(find_room(state, size));
    clf_page_chunk *chunk = state->current;
    *out_chunk = chunk;
    *out_data = chunk->data + chunk->used;
    clfi_round_up(chunk->used + size, SMALL_PAGE, &chunk->used);
    atomic_fetch_add_explicit(&chunk->holders, 1, memory_order_relaxed);
    return CLF_OK;
}
