/* SPDX-License-Identifier: MIT */
/* What two series of times say about their ratio, when samples of one series are not independent of each other.
 *
 * Times taken one after another share the machine's state of that moment, so thousands of samples may hold the information of a few. The unit
 * of evidence here is therefore the visit: the samples that one round of the runner took together (Kalibera & Jones 2013, "Rigorous
 * benchmarking in reasonable time", resample the highest level that is repeated in the same way). */
#ifndef CLFI_BENCH_STATISTICS_H
#define CLFI_BENCH_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Times above 0 in the order they were taken, and how many of them each visit took. */
typedef struct clfi_series {
    const double *values;
    size_t count;
    const size_t *visits; /* each above 0, sum: count */
    size_t visit_count;   /* 0: not recorded; then neighbouring samples are taken together, two and more, into at most ten visits */
} clfi_series;

/* More visits than this are merged with their neighbours. */
enum { CLFI_VISITS_MAX = 20 };

/* Fewer visits on a side than this cannot support a claim: of 4 against 4 the exact rank test can say p = 0.029, of 3 against 3 only 0.1. */
enum { CLFI_VISITS_MIN = 4 };

/* Standard deviation, in logarithms, that a run's level has from one process to the next although nothing changed: placement of code and data, pages,
 * clocks (Mytkowicz et al. 2009). One run per side cannot show it, so it is assumed. */
#define CLFI_RUN_TO_RUN 0.01

typedef struct clfi_difference {
    double median_a, median_b;
    double ratio;     /* median_b / median_a */
    double low, high; /* 95 % confidence interval of the ratio */
    double p;         /* that the ratio differs from 1, two-sided */
    double p_rank;    /* Mann-Whitney's U of the visits' medians, two-sided, exact */
    size_t visits_a, visits_b;
} clfi_difference;

/* The ratio of the medians. Its standard error, in logarithms, comes from a bootstrap of whole visits (1,000 resamples from `seed`, times
 * sqrt(K/(K-1)) because the spread of K visits is estimated from themselves) and CLFI_RUN_TO_RUN per side; interval and p are Student's with Welch's degrees
 * of freedom. With a single visit on a side nothing is known of its spread: interval 0 to infinity, p 1.
 * INVALID_ARGUMENT: an empty series, or visits that do not add up. OUT_OF_MEMORY. */
clf_status clfi_difference_of(const clfi_series *a, const clfi_series *b, uint64_t seed, clfi_difference *out);

/* Two-sided p of Mann & Whitney's U (1947): the share of all ways to divide the values into groups of these sizes whose rank sum is at least as far
 * from its mean. Exact, ties as midranks; at most CLFI_VISITS_MAX values a side. */
double clfi_rank_test(const double *a, size_t count_a, const double *b, size_t count_b);

/* P(|T| > |t|) of Student's distribution; and the t that `p` belongs to. */
double clfi_student_p(double t, double degrees);
double clfi_student_t(double p, double degrees);

/* Makes p values of many comparisons those of Benjamini & Hochberg (1995): claiming all below q keeps the expected share of wrong claims below q, and
 * where nothing differs the chance of any claim at all. In place. OUT_OF_MEMORY. */
clf_status clfi_adjust_p(double *p, size_t count);

#endif
