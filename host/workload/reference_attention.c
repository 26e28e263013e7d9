/* SPDX-License-Identifier: MIT */
/* Attention in double. */
#include "workload/reference_attention.h"

#include <math.h>

#include "base/alloc.h"

static const double U = 0x1p-24;

/* A score is a sum of d products of scaled queries: error (d+3)u times the sum of magnitudes A. A weight's exponent is off by twice that
 * plus the rounding of the subtraction (2A u), its exponential by 6 u, and sums over K weights (each rescaled once per block) by (K+8) u.
 * The quotient doubles the sum's error. */
clf_status clfi_ref_attention_row(const double *q, const double *k, const double *v, const bool *keep, const double *bias, size_t keys,
                                  size_t d, size_t dv, double scale, clf_empty_rows empty_rows, double *out, double *bound)
{
    double *scores, magnitude = 0;
    CLF_TRY(clfi_alloc(2 * keys, sizeof *scores, "reference attention", &scores));
    double *weights = scores + keys;
    for (size_t j = 0; j < keys; j++) {
        double sum = 0;
        for (size_t c = 0; c < d; c++) {
            scores[j] += q[c] * k[j * d + c];
            sum += fabs(q[c] * k[j * d + c]);
        }
        scores[j] = scores[j] * scale + (bias ? bias[j] : 0);
        sum = sum * fabs(scale) + (bias ? fabs(bias[j]) : 0);
        if ((!keep || keep[j]) && sum > magnitude)
            magnitude = sum;
    }
    const bool is_usable = clfi_ref_softmax_row(scores, keep, keys, empty_rows, weights);
    const double relative = (2 * (double)(d + 4) * magnitude + 2 * ((double)keys + 16)) * U;
    for (size_t c = 0; c < dv; c++) {
        double sum = 0, size = 0;
        for (size_t j = 0; j < keys; j++) {
            if (is_usable && keep && !keep[j]) /* a masked key does not take part, whatever v holds there */
                continue;
            sum += weights[j] * v[j * dv + c];
            size += fabs(weights[j] * v[j * dv + c]);
        }
        if (!is_usable && empty_rows == CLF_EMPTY_ROWS_ZERO)
            sum = size = 0;
        if (!is_usable && empty_rows == CLF_EMPTY_ROWS_NAN && keys > 0)
            sum = NAN;
        out[c] = sum;
        bound[c] = relative * size + 0x1p-120;
    }
    free(scores);
    return CLF_OK;
}
