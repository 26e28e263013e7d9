/* SPDX-License-Identifier: MIT */
/* Softmax of one row in double. */
#ifndef CLFI_WORKLOAD_REFERENCE_SOFTMAX_H
#define CLFI_WORKLOAD_REFERENCE_SOFTMAX_H

#include <stdbool.h>
#include <stddef.h>

#include "clformer/softmax.h"

/* Weights of one row from its scores: keep[j] false = masked; keep NULL = none masked. A used NaN or +inf makes every weight NaN.
 * Returns false when no
 * key is usable; then the weights follow the policy. */
bool clfi_ref_softmax_row(const double *scores, const bool *keep, size_t keys, clf_empty_rows empty_rows, double *weights);

/* Bound of the relative error of a weight in float32 over K keys, A = `largest` magnitude of a used score, u = 2^-24: 6A u for the
 * roundings of scores
 * and of their differences to the maximum (in the weight and in the sum), K u for the sum, 16 u for exponentials and the quotient. */
double clfi_ref_softmax_error(double largest, size_t keys);

#endif
