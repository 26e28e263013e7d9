/* SPDX-License-Identifier: MIT */
/* Computes order statistics of samples. */
#include "bench/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

clf_status clfi_samples_add(clfi_samples *samples, double value)
{
    CLF_TRY(clfi_grow(&samples->values, &samples->capacity, samples->count + 1, sizeof *samples->values, "samples"));
    samples->values[samples->count++] = value;
    return CLF_OK;
}

void clfi_samples_free(clfi_samples *samples)
{
    free(samples->values);
    *samples = (clfi_samples)CLFI_SAMPLES_INIT;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double clfi_sorted_quantile(const double *sorted, size_t count, double q)
{
    if (count == 0)
        return NAN;
    const double place = q * (double)(count - 1);
    const size_t low = (size_t)place, high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (place - (double)low) * (sorted[high] - sorted[low]);
}

clf_status clfi_samples_summary(const clfi_samples *samples, clfi_summary *out)
{
    double *sorted;
    CLF_TRY(clfi_alloc(samples->count, sizeof *sorted, "samples", &sorted));
    if (samples->count)
        memcpy(sorted, samples->values, samples->count * sizeof *sorted);
    qsort(sorted, samples->count, sizeof *sorted, by_value);
    out->median = clfi_sorted_quantile(sorted, samples->count, 0.5);
    out->p10 = clfi_sorted_quantile(sorted, samples->count, 0.1);
    out->p90 = clfi_sorted_quantile(sorted, samples->count, 0.9);
    free(sorted);
    return CLF_OK;
}

bool clfi_summary_is_noisy(const clfi_summary *summary)
{
    return summary->p90 - summary->p10 > CLFI_NOISY_SPREAD * summary->median;
}
