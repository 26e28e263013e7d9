/* SPDX-License-Identifier: MIT */
/* Allocates host memory for buffers that are kept long, as pieces of chunks for which huge pages are requested. A token reads every weight
 * once from memory; with pages of 4 KiB, the processor spends an eighth of that time on address translation. Most weights are smaller than
 * a huge page, so they share chunks. */
#ifndef CLFI_RUNTIME_HUGE_PAGES_H
#define CLFI_RUNTIME_HUGE_PAGES_H

#include <stddef.h>

#include "runtime/context.h"

/* A block of memory that pieces are cut from. */
typedef struct clf_page_chunk clf_page_chunk;

/* *out_data: a piece of at least `size` bytes, aligned to 4,096; contents undefined. The caller releases *out_chunk once for each piece.
 * OUT_OF_MEMORY. */
clf_status clfi_page_chunk_take(clf_context *context, size_t size, clf_page_chunk **out_chunk, void **out_data);

/* Gives one piece back. Any thread may call it, also after the context was destroyed. The last release frees the memory. NULL is a
 * no-op. */
void clfi_page_chunk_release(clf_page_chunk *chunk);

#endif
