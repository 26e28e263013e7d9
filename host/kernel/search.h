/* SPDX-License-Identifier: MIT */
/* Launchers of cl/any/search.cl: the steps between the product and the result of a search. All are enqueued. */
#ifndef CLFI_KERNEL_SEARCH_H
#define CLFI_KERNEL_SEARCH_H

#include "tensor/view.h"

enum { CLFI_KEY_BYTES = 8 };

/* Rows of 64-bit keys (cl/shared/score_key.cl); offset and stride in keys. */
typedef struct clf_key_rows {
    clf_buffer *buffer;            /* borrowed */
    int64_t offset, stride, count; /* count: keys of a row, in falling order unless a function says otherwise */
} clf_key_rows;

/* Limits cosines [q,n] (dense) to -1 .. 1, which rounding may exceed. */
clf_status clfi_search_bound(clf_context *context, const clf_view *scores);

/* Makes keys of the scores and columns [q,k] that clfi_top_k returned; base is added to the columns. keys: stride k. */
clf_status clfi_search_keys(clf_context *context, const clf_view *scores, const clf_view *columns, int64_t base, const clf_key_rows *keys);

/* Makes keys of all scores [q,n] (dense) and sorts each row. keys: two arrays of stride and count n; *out_sorted: index of the result. */
clf_status clfi_search_sort(clf_context *context, const clf_view *scores, int64_t base, const clf_key_rows keys[2], int *out_sorted);

/* Merges the lists a and b of each of `rows` rows and keeps the first out->count keys. The lists have no key in common. */
clf_status clfi_search_merge(clf_context *context, int64_t rows, const clf_key_rows *a, const clf_key_rows *b, const clf_key_rows *out);

/* Writes the scores (f32) and indices (i32), both [q,k] and dense, of the first k keys of each row. */
clf_status clfi_search_result(clf_context *context, const clf_key_rows *keys, const clf_view *scores, const clf_view *indices);

#endif
