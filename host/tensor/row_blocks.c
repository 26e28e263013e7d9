/* SPDX-License-Identifier: MIT */
/* Allocates and views matrices in blocks of rows. */
#include "tensor/row_blocks.h"

#include "base/alloc.h"

clf_status clfi_rows_per_block(const clf_context *context, const char *what, int64_t rows, size_t row_bytes, int64_t spare, int64_t *out)
{
    /* 1920 is divided by the head sizes in use: 16, 32, 40, 48, 64, 80, 96, 128, 160, 192 and others. */
    static const int64_t units[] = {1920, 960, 480, 240, 64, 16, 4, 1};
    const uint64_t limit = context->device.caps.max_allocation_bytes;
    const int64_t fit =
        (int64_t)(limit / (row_bytes ? row_bytes : 1) > INT64_MAX / 2 ? INT64_MAX / 2 : limit / (row_bytes ? row_bytes : 1));
    if (rows <= fit - spare) {
        *out = rows;
        return CLF_OK;
    }
    for (size_t i = 0; i < COUNT(units); i++) {
        if (units[i] <= fit - spare) {
            *out = (fit - spare) / units[i] * units[i];
            return CLF_OK;
        }
    }
    CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: rows of %zu bytes, %lld at once: the device's largest allocation is %llu bytes", what, row_bytes,
             (long long)spare + 1, (unsigned long long)limit);
}

clf_status clfi_row_blocks_add(clf_row_blocks *blocks, const clf_view *view)
{
    size_t capacity = (size_t)blocks->count;
    const clf_status st = clfi_grow(&blocks->view, &capacity, capacity + 1, sizeof *blocks->view, "blocks of rows");
    if (st != CLF_OK) {
        clfi_buffer_release(view->buffer);
        return st;
    }
    blocks->view[blocks->count++] = *view;
    return CLF_OK;
}

clf_status clfi_row_blocks_range(const clf_row_blocks *from, int64_t first, int64_t count, clf_row_blocks *out)
{
    const int64_t rows = clfi_row_blocks_rows(from);
    if (first < 0 || count < 0 || first > rows || count > rows - first)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "rows [%lld, +%lld) of a tensor of %lld rows", (long long)first, (long long)count, (long long)rows);
    for (int i = 0; i < from->count; i++) {
        clf_view part = from->view[i];
        const int64_t begin = first > 0 ? first : 0, end = first + count < part.dim[0] ? first + count : part.dim[0];
        first -= part.dim[0];
        if (begin >= end)
            continue;
        part.offset += begin * part.stride[0];
        part.dim[0] = end - begin;
        clfi_buffer_retain(part.buffer);
        CLF_TRY(clfi_row_blocks_add(out, &part));
    }
    return CLF_OK;
}

int64_t clfi_row_blocks_rows(const clf_row_blocks *blocks)
{
    int64_t rows = 0;
    for (int i = 0; i < blocks->count; i++)
        rows += blocks->view[i].dim[0];
    return rows;
}

void clfi_row_blocks_clear(clf_row_blocks *blocks)
{
    for (int i = 0; i < blocks->count; i++)
        clfi_buffer_release(blocks->view[i].buffer);
    free(blocks->view);
    *blocks = (clf_row_blocks)CLF_ROW_BLOCKS_INIT;
}
