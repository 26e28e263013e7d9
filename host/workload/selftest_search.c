/* SPDX-License-Identifier: MIT */
/* Self-test: the nearest rows, by selection, and by merges if more rows are wanted than a selection takes. */
#include <stdlib.h>

#include "op/top_k.h"
#include "workload/reference_search.h"
#include "workload/selftest.h"

enum { QUERIES = 2, ROWS = 1201, WIDTH = 24, FEW = 7, MANY = CLFI_TOP_K_MAX + 100, BLOCK = 1150 };

static clf_status check(clfi_selftest *test, const double *query, const double *rows, int k, const float *scores, const int32_t *indices)
{
    double want[MANY], bound, found;
    int32_t where[MANY];
    CLF_TRY(clfi_ref_search(CLF_SEARCH_COSINE, query, rows, ROWS, WIDTH, (size_t)k, want, where));
    for (int j = 0; j < k; j++) {
        const int32_t row = indices[j] >= 0 && indices[j] < ROWS ? indices[j] : 0;
        clfi_verdict_add(&test->verdict, indices[j], row, 0);
        found = clfi_ref_similarity(CLF_SEARCH_COSINE, query, rows + row * WIDTH, WIDTH, &bound);
        clfi_verdict_add(&test->verdict, scores[j], found, bound);
        clfi_verdict_add(&test->verdict, scores[j], want[j], bound); /* rows that are closer to each other than the bound may swap places */
    }
    return CLF_OK;
}

static clf_status search(clfi_selftest *test, int k)
{
    clfi_selftest_operands data = {.count = 0};
    clf_tensor *places = NULL;
    int32_t got[QUERIES * MANY];
    double *queries = NULL, *rows = NULL;
    clf_search_params params = CLF_SEARCH_PARAMS_INIT;
    clf_status st;
    params.block_rows = BLOCK; /* leaves a smaller last block */
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){QUERIES, WIDTH}, -1, 1));
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){ROWS, WIDTH}, -1, 1));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 2, (int64_t[]){QUERIES, k}));
    CLF_GOTO(clf_tensor_create(test->context, CLF_I32, 2, (int64_t[]){QUERIES, k}, &places));
    CLF_GOTO(clf_search_rows(test->context, data.operand[0].tensor, data.operand[1].tensor, k, &params, data.operand[2].tensor, places));
    CLF_GOTO(clfi_operand_read(&data.operand[2]));
    CLF_GOTO(clf_tensor_read(places, got, (size_t)(QUERIES * k) * sizeof *got));
    CLF_GOTO(clfi_operand_widen(&data.operand[0], &queries));
    CLF_GOTO(clfi_operand_widen(&data.operand[1], &rows));
    for (int q = 0; q < QUERIES; q++)
        CLF_GOTO(check(test, queries + q * WIDTH, rows, k, data.operand[2].host + q * k, got + q * k));
done:
    clf_tensor_destroy(places);
    clfi_selftest_free(&data);
    free(queries);
    free(rows);
    return st;
}

clf_status clfi_selftest_search(clfi_selftest *test)
{
    CLF_TRY(search(test, FEW));
    return search(test, MANY);
}
