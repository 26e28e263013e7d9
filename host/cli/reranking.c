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

clf_status cli_reranker_open(clf_context *context, const char *directory, const clf_model_params *params, clf_model **out)
{
    clf_model *model;
    CLF_TRY(clf_model_open_with(context, directory, params, &model));
    const size_t labels = clf_model_label_count(model);
    if (labels == 1) {
        *out = model;
        return CLF_OK;
    }
    clf_model_destroy(model);
    CLF_FAIL(CLF_UNSUPPORTED, "--rerank %s: the model's head has %zu labels: expected 1", directory, labels);
}

clf_status cli_rerank_hits(clf_model *reranker, const char *name, const cli_collection *queries, const cli_collection *corpus, size_t from,
                           size_t top, float *values, int64_t *indices)
{
    clf_text_pair *pairs = NULL;
    float *logits = NULL;
    int64_t *found = NULL;
    size_t *order = NULL, failed = SIZE_MAX;
    clf_classify_params params = CLF_CLASSIFY_PARAMS_INIT;
    params.failed_text = &failed;
    clf_status st;
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
        st = clf_model_score_pairs(reranker, pairs, from, &params, logits, NULL);
        if (st != CLF_OK && failed < from)
            CLF_GOTO(clfi_fail_prefix(st, "--rerank: %s: text %lld", name, (long long)found[failed] + 1));
        CLF_GOTO(st);
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
