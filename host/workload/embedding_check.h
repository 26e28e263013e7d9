/* SPDX-License-Identifier: MIT */
/* Compares an embedding with the reference's for workloads: its elements, its norm and its cosine. */
#ifndef CLFI_WORKLOAD_EMBEDDING_CHECK_H
#define CLFI_WORKLOAD_EMBEDDING_CHECK_H

#include "workload/workload.h"

/* Adds one comparison to *out: a float32 row of `width` values against the wanted row. The wanted row is divided by its norm. The row is
 * divided by its own norm if it is normal, as the model promises, else by the wanted one. Each element must lie within `bound` (in units of
 * the wanted row) divided by the wanted norm. The norm of a normal row must be 1 within rounding. out->cosine keeps the lowest cosine so
 * far, which decides nothing. NaN never passes. */
void clfi_embedding_check(size_t width, bool is_normal, const float *row, const double *want, double bound, clfi_verdict *out);

#endif
