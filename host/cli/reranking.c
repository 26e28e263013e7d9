/* SPDX-License-Identifier: MIT */
/* Reordering hits. */
#include "cli/reranking.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

double cli_sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static int compare(const void *a, const void *b, void *user)
{
    const float *logits = user;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (logits[x] != logits[y])
        return logits[x] > logits[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

void cli_order_by_logit(const float *logits, size_t *order, size_t count)
{
    if (count > 1)
        qsort_r(order, count, sizeof *order, compare, (void *)logits);
}

clf_status cli_rerank_hits(clf_model *reranker, const cli_collection *queries, const cli_collection *corpus, size_t from, size_t top,
                           float *values, int64_t *indices)
{
    clf_text_pair *pairs = NULL;
    float *logits = NULL;
    int64_t *found = NULL;
    size_t *order = NULL;
    clf_status st;
    if (!corpus->ends)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--rerank: the corpus has no texts; give them by --texts F");
    CLF_GOTO(clfi_alloc(from, sizeof *pairs, "hits", &pairs));
    CLF_GOTO(clfi_alloc(from, sizeof *logits, "hits", &logits));
    CLF_GOTO(clfi_alloc(from, sizeof *found, "hits", &found));
    CLF_GOTO(clfi_alloc(from, sizeof *order, "hits", &order));
    for (size_t q = 0; q < queries->count; q++) {
        for (size_t i = 0; i < from; i++) {
            order[i] = i;
            found[i] = indices[q * from + i];
            pairs[i] = (clf_text_pair){cli_collection_text(queries, q), cli_collection_text(corpus, (size_t)found[i])};
        }
        CLF_GOTO(clf_model_score_pairs(reranker, pairs, from, NULL, logits, NULL));
        cli_order_by_logit(logits, order, from);
        for (size_t i = 0; i < top; i++) {
            values[q * top + i] = logits[order[i]];
            indices[q * top + i] = found[order[i]];
        }
    }
done:
    free(pairs);
    free(logits);
    free(found);
    free(order);
    return st;
}
