/* SPDX-License-Identifier: MIT */
/* Attention of one query row in double, with the error bound of a float32 computation. */
#ifndef CLFI_WORKLOAD_REFERENCE_ATTENTION_H
#define CLFI_WORKLOAD_REFERENCE_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>

#include "workload/reference_softmax.h"

/* out[0..dv) = softmax(scale q.k + bias) v over `keys` rows of k (d columns) and v (dv columns), dense; bound[0..dv): error allowed to
 * float32 arithmetic. keep, bias: one for each key, or NULL.
 * OUT_OF_MEMORY. */
clf_status clfi_ref_attention_row(const double *q, const double *k, const double *v, const bool *keep, const double *bias, size_t keys,
                                  size_t d, size_t dv, double scale, clf_empty_rows empty_rows, double *out, double *bound);

#endif
