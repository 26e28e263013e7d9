/* SPDX-License-Identifier: MIT */
/* Launchers of cl/any/search.cl: the steps between the product and the result of a search. */
#ifndef CLFI_KERNEL_SEARCH_H
#define CLFI_KERNEL_SEARCH_H

#include "tensor/view.h"

enum { CLFI_KEY_BYTES = 8 };

/* Rows of 64-bit keys (cl/shared/score_key.cl); offset and stride in keys. */
typedef struct clf_key_rows {
    clf_buffer *buffer;            /* borrowed */
    int64_t offset, stride, count; /* count: keys of a row, in falling order unless a function says otherwise */
} clf_key_rows;

/* Cosines [q,n], without gaps, that rounding took beyond 1 become 1 (-1). */
clf_status clfi_search_bound(clf_context *context, const clf_view *scores);

/* The keys of scores and columns that clfi_top_k gave, [q,k] both; base is added to the columns. keys: stride k. */
clf_status clfi_search_keys(clf_context *context, const clf_view *scores, const clf_view *columns, int64_t base, const clf_key_rows *keys);

/* The keys of all scores [q,n], without gaps, sorted. Both of stride and count n; *out_sorted: which of the two has the result. */
clf_status clfi_search_sort(clf_context *context, const clf_view *scores, int64_t base, const clf_key_rows keys[2], int *out_sorted);

/* The first out->count keys of two lists of each of `rows` rows. The lists have no key in common. */
clf_status clfi_search_merge(clf_context *context, int64_t rows, const clf_key_rows *a, const clf_key_rows *b, const clf_key_rows *out);

/* scores f32 and indices i32 [q,k], without gaps, of the first k keys of each row. */
clf_status clfi_search_result(clf_context *context, const clf_key_rows *keys, const clf_view *scores, const clf_view *indices);

#endif
