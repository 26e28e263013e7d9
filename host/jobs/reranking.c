/* SPDX-License-Identifier: MIT */
/* Reorders hits of a search by a cross-encoder. */
#include "jobs/reranking.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "jobs/pool.h"

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

/* Computes logits [queries, from] of each query with each of its hits. */
static clf_status score_hits(cli_session *session, const char *name, const cli_collection *queries, const cli_collection *corpus,
                             size_t from, const int64_t *indices, float *logits, clf_embed_stats *stats)
{
    const cli_classifying options = {.max_tokens = 0};
    const size_t count = queries->count * from;
    clf_text_pair *pairs = NULL;
    size_t *numbers = NULL;
    cli_inputs *inputs = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc(count, sizeof *pairs, "hits", &pairs));
    CLF_GOTO(clfi_alloc(count, sizeof *numbers, "hits", &numbers));
    for (size_t i = 0; i < count; i++) {
        numbers[i] = (size_t)indices[i] + 1;
        pairs[i] = (clf_text_pair){cli_collection_text(queries, i / from), cli_collection_text(corpus, (size_t)indices[i])};
    }
    CLF_GOTO(cli_inputs_of_pairs(pairs, numbers, count, name, &inputs));
    CLF_GOTO(cli_pool_score(session, &options, inputs, cli_place_rows, logits, stats));
done:
    cli_inputs_close(inputs);
    free(pairs);
    free(numbers);
    return st == CLF_OK ? st : clfi_fail_prefix(st, "--rerank");
}

clf_status cli_rerank_hits(cli_session *session, const char *name, const cli_collection *queries, const cli_collection *corpus, size_t from,
                           size_t top, float *values, int64_t *indices, clf_embed_stats *stats)
{
    float *logits = NULL;
    int64_t *found = NULL;
    size_t *order = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc(queries->count * from, sizeof *logits, "hits", &logits));
    CLF_GOTO(clfi_alloc(from, sizeof *found, "hits", &found));
    CLF_GOTO(clfi_alloc(from, sizeof *order, "hits", &order));
    CLF_GOTO(score_hits(session, name, queries, corpus, from, indices, logits, stats));
    for (size_t q = 0; q < queries->count; q++) {
        for (size_t i = 0; i < from; i++) {
            order[i] = i;
            found[i] = indices[q * from + i];
        }
        cli_order_by_logit(logits + q * from, order, from);
        for (size_t i = 0; i < top; i++) {
            values[q * top + i] = logits[q * from + order[i]];
            indices[q * top + i] = found[order[i]];
        }
    }
done:
    free(logits);
    free(found);
    free(order);
    return st;
}
