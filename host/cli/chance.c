/* SPDX-License-Identifier: MIT */
/* Estimates the largest of n normally distributed scores from quantiles of a sample, for clformer search. */
#include "cli/chance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "jobs/scores.h"

enum { LEAST_TEXTS = 10, SAMPLE = 4096, QUERIES = 256 };

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* A quantile of sorted numbers, interpolated linearly between two of them. */
static double quantile(const float *sorted, size_t count, double share)
{
    const double at = share * (double)(count - 1);
    const size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
    return (double)sorted[low] + (at - (double)low) * ((double)sorted[high] - (double)sorted[low]);
}

static double threshold(float *scores, size_t count, size_t n)
{
    static const double below = 0.15865525; /* share of a normal distribution below its median minus one standard deviation */
    qsort(scores, count, sizeof *scores, compare);
    const double median = quantile(scores, count, 0.5);
    return median + (median - quantile(scores, count, below)) * sqrt(2 * log((double)n));
}

clf_status cli_chance(clf_context *context, clf_similarity similarity, const cli_collection *queries, const cli_collection *rows, size_t n,
                      double *out)
{
    const size_t width = rows->width, count = rows->count < SAMPLE ? rows->count : SAMPLE;
    float *sample = NULL, *scores = NULL;
    clf_status st;
    for (size_t q = 0; q < queries->count; q++)
        out[q] = NAN;
    if (n < LEAST_TEXTS || count < LEAST_TEXTS)
        return CLF_OK;
    CLF_GOTO(clfi_alloc(count * width, sizeof *sample, "a sample of the corpus", &sample));
    CLF_GOTO(clfi_alloc(QUERIES * count, sizeof *scores, "scores of a sample", &scores));
    for (size_t i = 0; i < count; i++)
        memcpy(sample + i * width, rows->rows + i * rows->count / count * width, width * sizeof *sample);
    for (size_t q = 0; q < queries->count; q += QUERIES) {
        const size_t some = queries->count - q < QUERIES ? queries->count - q : QUERIES;
        CLF_GOTO(cli_score_matrix(context, similarity, queries->rows + q * width, some, sample, count, width, scores));
        for (size_t i = 0; i < some; i++)
            out[q + i] = threshold(scores + i * count, count, n);
    }
done:
    free(sample);
    free(scores);
    return st;
}
