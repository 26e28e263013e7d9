/* SPDX-License-Identifier: MIT */
/* Softmax and log-softmax of one row in double. */
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

double clfi_ref_log_sum_exp(const double *x, size_t n)
{
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, x[i]);
    for (size_t i = 0; i < n; i++)
        sum += exp(x[i] - largest);
    return largest + log(sum);
}

double clfi_ref_log_softmax_error(double y, size_t n)
{
    return (3 * fabs(y) + (double)n / 8 + 3 * log((double)n) + 12) * 0x1p-24;
}
