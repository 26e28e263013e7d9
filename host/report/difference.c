/* SPDX-License-Identifier: MIT */
/* Estimates the ratio of two medians by a bootstrap of whole visits. */
#include "report/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/samples.h"
#include "base/random.h"

#ifndef CLF_RESAMPLES /* the fuzzer takes fewer */
#define CLF_RESAMPLES 1000
#endif
enum { RESAMPLES = CLF_RESAMPLES, KEPT = 64 /* quantiles that stand for a visit's samples */, GUESSED_VISITS = 10 };

/* A sample, or a quantile that stands for `weight` of them. */
typedef struct entry {
    double log, weight; /* log: of the value */
    size_t visit;
} entry;

/* A series in the form that is resampled. */
typedef struct sample_pool {
    entry *entries; /* sorted by value */
    size_t count, visits;
    size_t samples[CLFI_VISITS_MAX]; /* of the visits, as the next */
    double medians[CLFI_VISITS_MAX];
    double median;
    double variance; /* of the logarithm of the median, without CLFI_RUN_TO_RUN^2 */
} sample_pool;

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_entry(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    return (x->visit > y->visit) - (x->visit < y->visit);
}

/* Number of samples in visits 0 to i, when the series is divided into `visits` visits. */
static size_t visit_end(const clfi_series *s, size_t visits, size_t i)
{
    if (s->visit_count == 0)
        return (i + 1) * s->count / visits;
    size_t end = 0;
    for (size_t j = 0; j < (i + 1) * s->visit_count / visits; j++)
        end += s->visits[j];
    return end;
}

static size_t visits_of(const clfi_series *s)
{
    size_t visits = s->visit_count;
    if (visits == 0) {
        visits = s->count / 2 < GUESSED_VISITS ? s->count / 2 : GUESSED_VISITS;
        visits = visits ? visits : 1;
    }
    return visits < CLFI_VISITS_MAX ? visits : CLFI_VISITS_MAX;
}

static clf_status fill(const clfi_series *s, double *sorted, sample_pool *p)
{
    size_t start = 0;
    for (size_t v = 0; v < p->visits; v++) {
        const size_t count = visit_end(s, p->visits, v) - start, kept = count < KEPT ? count : KEPT;
        memcpy(sorted, s->values + start, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_number);
        p->samples[v] = count;
        p->medians[v] = clfi_sorted_quantile(sorted, count, 0.5);
        for (size_t i = 0; i < kept; i++)
            p->entries[p->count++] =
                (entry){log(clfi_sorted_quantile(sorted, count, ((double)i + 0.5) / (double)kept)), (double)count / (double)kept, v};
        start += count;
    }
    qsort(p->entries, p->count, sizeof *p->entries, by_entry);
    memcpy(sorted, s->values, s->count * sizeof *sorted);
    qsort(sorted, s->count, sizeof *sorted, by_number);
    p->median = clfi_sorted_quantile(sorted, s->count, 0.5);
    return CLF_OK;
}

/* The logarithm of the median of the entries, when visit v is counted times[v] times: the mean of the lower and the upper median's
 * logarithms. */
static double median_of(const sample_pool *p, const unsigned *times)
{
    double total = 0, below = 0;
    for (size_t v = 0; v < p->visits; v++)
        total += (double)(p->samples[v] * times[v]);
    for (size_t i = 0; i < p->count; i++) {
        below += p->entries[i].weight * times[p->entries[i].visit];
        if (below < total * (0.5 - 1e-12))
            continue;
        size_t next = i;
        if (below <= total * (0.5 + 1e-12)) /* exactly half: the upper median is the next entry of a visit that counts */
            do
                next++;
            while (next + 1 < p->count && times[p->entries[next].visit] == 0);
        next = next < p->count ? next : i;
        return (p->entries[i].log + p->entries[next].log) / 2;
    }
    return log(p->median);
}

static void resample(sample_pool *p, clfi_random *random)
{
    double mean = 0, squares = 0;
    for (int r = 0; r < RESAMPLES; r++) {
        unsigned times[CLFI_VISITS_MAX] = {0};
        for (size_t i = 0; i < p->visits; i++)
            times[clfi_random_below(random, p->visits)]++;
        const double value = median_of(p, times), delta = value - mean;
        mean += delta / (r + 1);
        squares += delta * (value - mean);
    }
    p->variance = squares / (RESAMPLES - 1) * (double)p->visits / (double)(p->visits - 1) * (1 + CLFI_RUN_SHARE * (double)p->visits);
}

static clf_status prepare(const clfi_series *s, clfi_random *random, sample_pool *p)
{
    double *sorted;
    size_t sum = 0;
    for (size_t i = 0; i < s->visit_count; i++)
        sum += s->visits[i];
    if (s->count == 0 || (s->visit_count && sum != s->count))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "series: %zu samples, visits have %zu", s->count, sum);
    p->visits = visits_of(s);
    CLF_TRY(clfi_alloc(s->count, sizeof *p->entries, "samples", &p->entries));
    CLF_TRY(clfi_alloc(s->count, sizeof *sorted, "samples", &sorted));
    const clf_status st = fill(s, sorted, p);
    free(sorted);
    if (st == CLF_OK && p->visits > 1)
        resample(p, random);
    return st;
}

static void judge(const sample_pool *a, const sample_pool *b, clfi_difference *out)
{
    const double difference = log(b->median) - log(a->median), drift = 2 * CLFI_RUN_TO_RUN * CLFI_RUN_TO_RUN;
    *out = (clfi_difference){.median_a = a->median, .median_b = b->median, .ratio = b->median / a->median, .low = 0, .high = INFINITY,
                             .p = 1, .p_rank = clfi_rank_test(a->medians, a->visits, b->medians, b->visits),
                             .visits_a = a->visits, .visits_b = b->visits};
    if (a->visits < 2 || b->visits < 2)
        return;
    const double spread = a->variance + b->variance, error = sqrt(spread + drift);
    const double uncertain = a->variance * a->variance / (double)(a->visits - 1) + b->variance * b->variance / (double)(b->visits - 1);
    const double degrees = uncertain > 0 ? fmin((spread + drift) * (spread + drift) / uncertain, 1e6) : 1e6;
    const double t = clfi_student_t(0.05, degrees);
    out->low = exp(difference - t * error);
    out->high = exp(difference + t * error);
    out->p = clfi_student_p(difference / error, degrees);
}

clf_status clfi_difference_of(const clfi_series *a, const clfi_series *b, uint64_t seed, clfi_difference *out)
{
    sample_pool side_a = {0}, side_b = {0};
    clfi_random random = {seed};
    clf_status st = prepare(a, &random, &side_a);
    if (st == CLF_OK)
        st = prepare(b, &random, &side_b);
    if (st == CLF_OK)
        judge(&side_a, &side_b, out);
    free(side_a.entries);
    free(side_b.entries);
    return st;
}
