/* SPDX-License-Identifier: MIT */
/* Softmax and log-softmax of one row in double. */
#ifndef CLFI_WORKLOAD_REFERENCE_SOFTMAX_H
#define CLFI_WORKLOAD_REFERENCE_SOFTMAX_H

#include <stdbool.h>
#include <stddef.h>

#include "clformer/softmax.h"

/* Weights of one row from its scores. keep[j] false: key j is masked; keep NULL: no key is. A NaN or +inf among the used scores makes
 * every weight NaN. Returns false if no key is usable; the weights then follow the policy. */
bool clfi_ref_softmax_row(const double *scores, const bool *keep, size_t keys, clf_empty_rows empty_rows, double *weights);

/* Bound of the relative error of a weight in float32 over K keys: (6 A + K + 16) u, A = `largest` magnitude of a used score, u = 2^-24.
 * 6 A u covers the roundings of scores and of their differences to the maximum (in the weight and in the sum), K u the sum, 16 u the
 * exponentials and the quotient. */
double clfi_ref_softmax_error(double largest, size_t keys);

/* log sum_i exp(x[i]) over n values; log-softmax is x minus this. */
double clfi_ref_log_sum_exp(const double *x, size_t n);

/* Bound of the error of a log-softmax y over n values in float32: (3 |y| + n/8 + 3 log(n) + 12) u, u = 2^-24. 3 |y| u covers the two
 * differences and the rounded exponents, n/8 u the sum, 3 log(n) u the logarithm, 12 u the exponentials. */
double clfi_ref_log_softmax_error(double y, size_t n);

#endif
