/* SPDX-License-Identifier: MIT */
/* Estimates the ratio of two series of times and its uncertainty, for comparisons of result files. Samples of one series may depend on each
 * other.
 *
 * Times taken one after another share the machine's state of that moment, so thousands of samples may hold the information of a few. The
 * unit of evidence here is therefore the visit: the samples that one round of the runner took together. Kalibera & Jones 2013, "Rigorous
 * benchmarking in reasonable time", likewise resample the highest level that is repeated. */
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
    size_t visit_count;   /* 0: not recorded; then each two or more neighbouring samples form a visit, at most ten visits in all */
} clfi_series;

/* If there are more visits than this, neighbours are merged. */
enum { CLFI_VISITS_MAX = 20 };

/* Fewer visits on a side than this cannot support a claim. The smallest p of the exact rank test is 0.029 for 4 visits against 4, and 0.1
 * for 3 against 3. */
enum { CLFI_VISITS_MIN = 4 };

/* Assumptions about how much the times of whole runs vary although nothing changed. One run per side cannot show this.
 * CLFI_RUN_TO_RUN: standard deviation of the logarithm on an idle machine; the causes are the placement of code, data and pages, and clocks
 * (Mytkowicz et al. 2009).
 * CLFI_RUN_SHARE: share of the variance between visits that does not average out. On a machine that others use, the load differs from run
 * to run. In twelve runs of one build on a busy two-core machine, the variance between runs was 0.4 to 1.3 times the variance between the
 * visits of a run. The means of five independent visits would vary only 0.2 times as much. */
#define CLFI_RUN_TO_RUN 0.01
#define CLFI_RUN_SHARE 0.5

typedef struct clfi_difference {
    double median_a, median_b;
    double ratio;     /* median_b / median_a */
    double low, high; /* 95 % confidence interval of the ratio */
    double p;         /* Student's test of ratio 1, two-sided */
    double p_rank;    /* Mann-Whitney's U of the visits' medians, two-sided, exact */
    size_t visits_a, visits_b; /* after merging */
} clfi_difference;

/* Computes the ratio of the medians and its uncertainty. The variance of its logarithm is, for a side with K visits,
 * v (1 + CLFI_RUN_SHARE K) + CLFI_RUN_TO_RUN^2. v is the variance of the median's logarithm in a bootstrap of whole visits (1,000 resamples
 * from `seed`), times K/(K-1) because the spread of K visits is estimated from themselves. Interval and p are Student's, with Welch's
 * degrees of freedom. A single visit on a side shows nothing of its spread: the interval is then 0 to infinity and p is 1.
 * INVALID_ARGUMENT: an empty series, or visits that do not add up to its count. OUT_OF_MEMORY. */
clf_status clfi_difference_of(const clfi_series *a, const clfi_series *b, uint64_t seed, clfi_difference *out);

/* Two-sided p of Mann & Whitney's U (1947), exact, with midranks for ties. It is the share of all divisions into groups of these sizes
 * whose rank sum is at least as far from its mean as the one observed. Returns 1 if a side has no value or more than CLFI_VISITS_MAX, and
 * if memory runs out. */
double clfi_rank_test(const double *a, size_t count_a, const double *b, size_t count_b);

/* clfi_student_p: P(|T| > |t|) of Student's distribution; clfi_student_t: its inverse, the t >= 0 for a given p. */
double clfi_student_p(double t, double degrees);
double clfi_student_t(double p, double degrees);

/* Adjusts the p values of many comparisons in place, as Benjamini & Hochberg (1995) do. If a caller claims all differences whose adjusted p
 * is below q, the expected share of wrong claims is below q. If nothing differs at all, the chance of any claim is below q.
 * OUT_OF_MEMORY. */
clf_status clfi_adjust_p(double *p, size_t count);

#endif
