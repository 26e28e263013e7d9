/* SPDX-License-Identifier: MIT */
/* Attention of one query row in double, with the error bound of a float32 computation. */
#ifndef CLF_TEST_REF_ATTENTION_H
#define CLF_TEST_REF_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>

#include "support/ref_softmax.h"

/* out[0..dv) = softmax(scale q.k) v over `keys` rows of k (d columns) and v (dv columns), dense; bound[0..dv): error allowed to float32 arithmetic. */
void ref_attention_row(const double *q, const double *k, const double *v, const bool *keep, size_t keys, size_t d, size_t dv, double scale,
                       clf_empty_rows empty_rows, double *out, double *bound);

#endif
