/* SPDX-License-Identifier: MIT */
/* Nearest rows in double precision, to verify searches on devices. */
#ifndef CLFI_WORKLOAD_REFERENCE_SEARCH_H
#define CLFI_WORKLOAD_REFERENCE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "clformer/search.h"

/* The similarity of two vectors of c features. *bound (may be NULL): bound of its error in f32, to first order (Higham 2002, chapter 3). */
double clfi_ref_similarity(clf_search_metric metric, const double *query, const double *row, size_t c, double *bound);

/* The k most similar of n rows [n,c] to a query, k <= n: scores fall, NaN last, ties by lower index. OUT_OF_MEMORY. */
clf_status clfi_ref_search(clf_search_metric metric, const double *query, const double *rows, size_t n, size_t c, size_t k, double *scores,
                           int32_t *indices);

#endif
