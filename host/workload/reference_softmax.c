/* SPDX-License-Identifier: MIT */
/* Softmax of one row in double. */
#include "workload/reference_softmax.h"

#include <math.h>

bool clfi_ref_softmax_row(const double *scores, const bool *keep, size_t keys, clf_empty_rows empty_rows, double *weights)
{
    double largest = -INFINITY, sum = 0;
    bool is_broken = false;
    for (size_t j = 0; j < keys; j++) {
        if (keep && !keep[j])
            continue;
        is_broken = is_broken || isnan(scores[j]) || scores[j] == (double)INFINITY;
        if (scores[j] > largest)
            largest = scores[j];
    }
    const bool is_usable = is_broken || largest > -INFINITY;
    for (size_t j = 0; j < keys; j++) {
        if (is_broken)
            weights[j] = NAN;
        else if (!is_usable)
            weights[j] = empty_rows == CLF_EMPTY_ROWS_ZERO ? 0 : empty_rows == CLF_EMPTY_ROWS_NAN ? NAN : 1.0 / (double)keys;
        else if (keep && !keep[j])
            weights[j] = 0;
        else
            sum += weights[j] = exp(scores[j] - largest);
    }
    for (size_t j = 0; is_usable && !is_broken && j < keys; j++)
        if (!keep || keep[j])
            weights[j] /= sum;
    return is_usable;
}

double clfi_ref_softmax_error(double largest, size_t keys)
{
    return (6 * largest + (double)keys + 16) * 0x1p-24;
}
