/* SPDX-License-Identifier: MIT */
/* Collects samples of one quantity and computes their order statistics. */
#ifndef CLFI_BENCH_SAMPLES_H
#define CLFI_BENCH_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "clformer/status.h"

typedef struct clfi_samples {
    double *values;
    size_t count, capacity;
} clfi_samples;

#define CLFI_SAMPLES_INIT \
    {                     \
        NULL, 0, 0        \
    }

clf_status clfi_samples_add(clfi_samples *samples, double value); /* OUT_OF_MEMORY */
void clfi_samples_free(clfi_samples *samples);                    /* leaves it empty and usable again */

/* Median, 10 % and 90 % quantile: linear between order statistics (type 7 of Hyndman & Fan 1996, the default of NumPy and R). */
typedef struct clfi_summary {
    double median, p10, p90;
} clfi_summary;

/* All NaN if there is no sample. OUT_OF_MEMORY. */
clf_status clfi_samples_summary(const clfi_samples *samples, clfi_summary *out);

/* One quantile, q in [0, 1], of values in rising order; NaN if there are none. */
double clfi_sorted_quantile(const double *sorted, size_t count, double q);

/* A measurement is noisy if p90 - p10 exceeds a tenth of the median. */
#define CLFI_NOISY_SPREAD 0.1
bool clfi_summary_is_noisy(const clfi_summary *summary);

#endif
