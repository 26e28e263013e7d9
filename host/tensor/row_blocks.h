/* SPDX-License-Identifier: MIT */
/* Matrices in blocks of rows, for weights that are larger than the device's largest allocation. */
#ifndef CLFI_TENSOR_ROW_BLOCKS_H
#define CLFI_TENSOR_ROW_BLOCKS_H

#include "tensor/view.h"

/* One tensor [N,...] as blocks of rows, one under the other, each in a buffer of its own; a tensor that one allocation holds is one
 * block. */
typedef struct clf_row_blocks {
    clf_view *view; /* owned, with a reference to each buffer; block i holds view[i].dim[0] rows */
    int count;      /* 0: no tensor */
} clf_row_blocks;

#define CLF_ROW_BLOCKS_INIT {NULL, 0}

/* *out: number of rows of row_bytes bytes that one allocation holds together with `spare` more. It is `rows` if they all fit, else a number
 * with many divisors, so that blocks of columns made from them (heads) stay whole. OUT_OF_MEMORY: not even one fits; the message begins
 * with `what`. */
clf_status clfi_rows_per_block(const clf_context *context, const char *what, int64_t rows, size_t row_bytes, int64_t spare, int64_t *out);

/* Appends a block; takes over one reference to its buffer, also on failure. */
clf_status clfi_row_blocks_add(clf_row_blocks *blocks, const clf_view *view);

/* Appends views of rows first .. first + count - 1 of `from` to *out; each retains its buffer. INVALID_ARGUMENT: rows that `from` does not
 * have. OUT_OF_MEMORY: *out keeps the blocks that were appended. */
clf_status clfi_row_blocks_range(const clf_row_blocks *from, int64_t first, int64_t count, clf_row_blocks *out);

int64_t clfi_row_blocks_rows(const clf_row_blocks *blocks);
void clfi_row_blocks_clear(clf_row_blocks *blocks); /* empty and usable again */

#endif
