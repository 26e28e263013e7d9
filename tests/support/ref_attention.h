/* SPDX-License-Identifier: MIT */
/* Attention of one query row in double, with the error bound of a float32 computation. */
#ifndef CLF_TEST_REF_ATTENTION_H
#define CLF_TEST_REF_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>

#include "clformer/softmax.h"

/* Weights of one row from its scores: keep[j] false = masked; keep NULL = none masked. Returns false when no key is usable; then the weights follow the policy. */
bool ref_softmax_row(const double *scores, const bool *keep, size_t keys, clf_empty_rows empty_rows, double *weights);

/* out[0..dv) = softmax(scale q.k) v over `keys` rows of k (d columns) and v (dv columns), dense; bound[0..dv): error allowed to float32 arithmetic. */
void ref_attention_row(const double *q, const double *k, const double *v, const bool *keep, size_t keys, size_t d, size_t dv, double scale,
                       clf_empty_rows empty_rows, double *out, double *bound);

#endif
