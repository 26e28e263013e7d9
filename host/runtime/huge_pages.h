/* SPDX-License-Identifier: MIT */
/* Memory of the host for buffers that last: pieces of chunks which ask for huge pages. A token reads every weight once, from memory; with
 * pages of 4 KiB the processor spends an eighth of that time on finding where each page lies. Most weights are smaller than a huge page, so
 * that they share chunks. */
#ifndef CLFI_RUNTIME_HUGE_PAGES_H
#define CLFI_RUNTIME_HUGE_PAGES_H

#include <stddef.h>

#include "runtime/context.h"

/* The memory that a piece belongs to. */
typedef struct clf_page_chunk clf_page_chunk;

/* A piece of at least `size` bytes, aligned to 4,096; contents undefined. It is the caller's until it releases the chunk, once for each
 * piece. OUT_OF_MEMORY. */
clf_status clfi_page_chunk_take(clf_context *context, size_t size, clf_page_chunk **out_chunk, void **out_data);

/* One piece is given back, in any thread, also after its context's end; the memory goes with the last one. */
void clfi_page_chunk_release(clf_page_chunk *chunk);

#endif
