/* SPDX-License-Identifier: MIT */
/* Nearest rows in double precision, by a sort of all of them. */
#include "workload/reference_search.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

typedef struct found_row {
    double score;
    int32_t index;
} found_row;

double clfi_ref_similarity(clf_search_metric metric, const double *query, const double *row, size_t c, double *bound)
{
    double sum = 0, size = 0, query_square = 0, row_square = 0;
    for (size_t i = 0; i < c; i++) {
        sum += query[i] * row[i];
        size += fabs(query[i] * row[i]);
        query_square += query[i] * query[i];
        row_square += row[i] * row[i];
    }
    const double lengths = metric == CLF_SEARCH_COSINE ? fmax(sqrt(query_square), 1e-12) * fmax(sqrt(row_square), 1e-12) : 1;
    if (bound) /* dividing by a length: c / 2 + 4 roundings each */
        *bound = (metric == CLF_SEARCH_COSINE ? 2.0 * (double)c + 12 : (double)c + 8) * 0x1p-24 * size / lengths;
    return sum / lengths;
}

static int by_rank(const void *pa, const void *pb)
{
    const found_row *a = pa, *b = pb;
    if (isnan(a->score) != isnan(b->score))
        return isnan(a->score) ? 1 : -1;
    if (!isnan(a->score) && a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

clf_status clfi_ref_search(clf_search_metric metric, const double *query, const double *rows, size_t n, size_t c, size_t k, double *scores,
                           int32_t *indices)
{
    found_row *all;
    CLF_TRY(clfi_alloc(n, sizeof *all, "candidates", &all));
    for (size_t i = 0; i < n; i++)
        all[i] = (found_row){clfi_ref_similarity(metric, query, rows + i * c, c, NULL), (int32_t)i};
    qsort(all, n, sizeof *all, by_rank);
    for (size_t i = 0; i < k; i++) {
        scores[i] = all[i].score;
        indices[i] = all[i].index;
    }
    free(all);
    return CLF_OK;
}
