/* SPDX-License-Identifier: MIT */
/* The ratio of two series of times and its uncertainty, when samples of one series are not independent of each other.
 *
 * Times taken one after another share the machine's state of that moment, so thousands of samples may hold the information of a few. The
 * unit of evidence here is therefore the visit, the samples that one round of the runner took together. Kalibera & Jones 2013, "Rigorous
 * benchmarking in reasonable time", resample the highest level that is repeated in the same way. */
#ifndef CLFI_REPORT_STATISTICS_H
#define CLFI_REPORT_STATISTICS_H

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

/* Fewer visits on a side than this cannot support a claim: of 4 against 4 the exact rank test can say p = 0.029, of 3 against 3 only
 * 0.1. */
enum { CLFI_VISITS_MIN = 4 };

/* Assumptions about how much a run's level varies although nothing changed. One run per side cannot show it. CLFI_RUN_TO_RUN: standard
 * deviation, in logarithms, on a machine at rest: placement of code, data and pages, clocks (Mytkowicz et al. 2009). CLFI_RUN_SHARE: on a
 * machine that others use, whole runs meet different company. In twelve runs of one build on a busy two-core machine the variance between
 * runs was 0.4 to 1.3 times that between the visits of a run. Averaging five independent visits would leave 0.2. So this share of the
 * variance between visits is taken not to average out. */
#define CLFI_RUN_TO_RUN 0.01
#define CLFI_RUN_SHARE 0.5

typedef struct clfi_difference {
    double median_a, median_b;
    double ratio;     /* median_b / median_a */
    double low, high; /* 95 % confidence interval of the ratio */
    double p;         /* that the ratio differs from 1, two-sided */
    double p_rank;    /* Mann-Whitney's U of the visits' medians, two-sided, exact */
    size_t visits_a, visits_b;
} clfi_difference;

/* The ratio of the medians. Variance of its logarithm, per side: v (1 + CLFI_RUN_SHARE K) + CLFI_RUN_TO_RUN^2. v is the median's variance
 * in a bootstrap of whole visits (1,000 resamples from `seed`), times K/(K-1) because the spread of K visits is estimated from themselves.
 * Interval and p are Student's with Welch's degrees of freedom. With a single visit on a side nothing is known of its spread: interval 0 to
 * infinity, p 1. INVALID_ARGUMENT: an empty series, or visits that do not add up. OUT_OF_MEMORY. */
clf_status clfi_difference_of(const clfi_series *a, const clfi_series *b, uint64_t seed, clfi_difference *out);

/* Two-sided p of Mann & Whitney's U (1947): the share of all ways to divide the values into groups of these sizes whose rank sum is at
 * least as far from its mean. Exact, ties as midranks; at most CLFI_VISITS_MAX values a side. */
double clfi_rank_test(const double *a, size_t count_a, const double *b, size_t count_b);

/* P(|T| > |t|) of Student's distribution; and the t that `p` belongs to. */
double clfi_student_p(double t, double degrees);
double clfi_student_t(double p, double degrees);

/* Makes p values of many comparisons those of Benjamini & Hochberg (1995). Who claims all below q keeps the expected share of wrong claims
 * below q. Where nothing differs, the chance of any claim at all is below q. In place. OUT_OF_MEMORY. */
clf_status clfi_adjust_p(double *p, size_t count);

#endif
