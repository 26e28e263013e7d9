/* SPDX-License-Identifier: MIT */
/* Nearest rows: exact order where scores are exact (small integers), with ties, NaN and infinities; cosines within their bound; rows in
 * parts and blocks, more of the best than selection takes, layouts and types. */
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "clformer/search.h"
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"
#include "workload/reference_search.h"

typedef enum content { INTEGERS, UNIFORM, SPECIAL } content;

static void fill(operand *o, content what, uint64_t seed)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1.0f, -1.0f, 2.0f};
    rng r = {seed};
    float *values = calloc(o->count + 1, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < o->count; i++)
        values[i] = what == INTEGERS  ? (float)rng_below(&r, 5) - 2
                    : what == UNIFORM ? rng_uniform(&r, -1, 1)
                                      : special[rng_below(&r, i % 3 ? COUNT(special) : 1) + (i % 3 ? 0 : 5)];
    operand_fill(o, values);
    free(values);
}

typedef struct search_case {
    clf_search_metric metric;
    content what;
    int64_t queries, rows, width, k, block, part; /* part: rows of one clf_search_add; 0: clf_search_rows */
    clf_dtype dtype;                              /* of the rows */
    layout layout;
} search_case;

static void run_parts(clf_context *context, const search_case *c, const clf_search_params *params, const operand *q, const operand *r,
                      clf_tensor *scores, clf_tensor *indices)
{
    clf_search *search;
    CHECK_OK(clf_search_create(context, q->tensor, c->k, params, &search));
    for (int64_t first = 0; first < c->rows; first += c->part) {
        clf_tensor *part;
        const int64_t count = c->rows - first < c->part ? c->rows - first : c->part;
        CHECK_OK(clf_tensor_slice(r->tensor, 0, first, count, 1, &part));
        CHECK_OK(clf_search_add(search, part));
        clf_tensor_destroy(part);
        CHECK(clf_search_row_count(search) == first + count, "%lld rows", (long long)clf_search_row_count(search));
    }
    CHECK_OK(clf_search_best(search, scores, indices));
    clf_search_destroy(search);
}

static void check_query(const search_case *c, const char *id, const double *query, const double *rows, const double *scores,
                        const double *indices)
{
    double *want = calloc((size_t)c->k, sizeof *want);
    int32_t *where = calloc((size_t)c->k, sizeof *where);
    assert_true(want && where);
    CHECK_OK(clfi_ref_search(c->metric, query, rows, (size_t)c->rows, (size_t)c->width, (size_t)c->k, want, where));
    const bool is_exact = c->metric == CLF_SEARCH_DOT && c->what != UNIFORM;
    for (int64_t j = 0; j < c->k; j++) {
        const int64_t row = (int64_t)indices[j];
        CHECK(row >= 0 && row < c->rows, "%s place %lld: row %lld", id, (long long)j, (long long)row);
        if (row < 0 || row >= c->rows)
            continue;
        double bound;
        const double found = clfi_ref_similarity(c->metric, query, rows + row * c->width, (size_t)c->width, &bound);
        CHECK(!is_exact || row == where[j], "%s place %lld: row %lld, want %d", id, (long long)j, (long long)row, where[j]);
        bound = is_exact ? 0 : bound;
        CHECK(within(scores[j], found, bound), "%s place %lld, row %lld: %.9g, want %.9g", id, (long long)j, (long long)row, scores[j],
              found);
        CHECK(within(scores[j], want[j], bound), "%s place %lld: %.9g, want %.9g", id, (long long)j, scores[j], want[j]);
        CHECK(c->metric != CLF_SEARCH_COSINE || !(fabs(scores[j]) > 1), "%s place %lld: cosine %.9g", id, (long long)j, scores[j]);
        CHECK(j == 0 || scores[j] < scores[j - 1] || isnan(scores[j]) || (scores[j] == scores[j - 1] && row > indices[j - 1]),
              "%s place %lld: %.9g of row %lld behind %.9g of row %g", id, (long long)j, scores[j], (long long)row, scores[j - 1],
              indices[j - 1]);
    }
    free(where);
    free(want);
}

static void run_case(clf_context *context, const search_case *c)
{
    char id[160];
    snprintf(id, sizeof id, "%s %s q=%lld n=%lld c=%lld k=%lld block=%lld part=%lld layout=%s", c->metric ? "dot" : "cosine",
             clf_dtype_name(c->dtype), (long long)c->queries, (long long)c->rows, (long long)c->width, (long long)c->k, (long long)c->block,
             (long long)c->part, layout_name(c->layout));
    clf_search_params params = CLF_SEARCH_PARAMS_INIT;
    params.metric = c->metric;
    params.block_rows = c->block;
    operand q = operand_create(context, CLF_F32, c->layout, 2, (int64_t[]){c->queries, c->width});
    operand r = operand_create(context, c->dtype, c->layout, 2, (int64_t[]){c->rows, c->width});
    operand scores = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){c->queries, c->k});
    operand indices = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){c->queries, c->k});
    fill(&q, c->what == SPECIAL ? INTEGERS : c->what, 3);
    fill(&r, c->what, 5);
    if (c->part)
        run_parts(context, c, &params, &q, &r, scores.tensor, indices.tensor);
    else
        CHECK_OK(clf_search_rows(context, q.tensor, r.tensor, c->k, &params, scores.tensor, indices.tensor));
    operand_read(&scores, id);
    operand_read(&indices, id);
    for (int64_t i = 0; i < c->queries; i++)
        check_query(c, id, q.value + i * c->width, r.value, scores.value + i * c->k, indices.value + i * c->k);
    operand_destroy(&indices);
    operand_destroy(&scores);
    operand_destroy(&r);
    operand_destroy(&q);
}

/* In a context of its own where the device is simulated: Oclgrind 21.10 takes what a kernel wrote for uninitialised where the buffer is in
 * the place of a smaller one that was released. */
static void run_alone(clf_context *shared, const search_case *c)
{
    clf_context *own = NULL;
    if (only_small_cases())
        CHECK_OK(clf_context_create(NULL, &own));
    run_case(own ? own : shared, c);
    clf_context_destroy(own);
}

static void test_cases(void **state)
{
    static const search_case cases[] = {
        {CLF_SEARCH_DOT, INTEGERS, 1, 1, 1, 1, 0, 0, CLF_F32, LAYOUT_CONTIGUOUS},
        {CLF_SEARCH_DOT, INTEGERS, 3, 50, 7, 5, 0, 0, CLF_F32, LAYOUT_CONTIGUOUS},
        {CLF_SEARCH_DOT, INTEGERS, 3, 50, 7, 50, 16, 0, CLF_F32, LAYOUT_CONTIGUOUS}, /* all of them, blocks smaller than k */
        {CLF_SEARCH_DOT, INTEGERS, 2, 53, 4, 20, 0, 7, CLF_F32, LAYOUT_CONTIGUOUS},  /* parts smaller than k */
        {CLF_SEARCH_DOT, INTEGERS, 2, 45, 4, 3, 8, 20, CLF_F16, LAYOUT_CONTIGUOUS},  /* parts of several blocks, the last of one row */
        {CLF_SEARCH_DOT, SPECIAL, 3, 64, 3, 64, 24, 0, CLF_F32, LAYOUT_CONTIGUOUS},
        {CLF_SEARCH_COSINE, UNIFORM, 3, 65, 24, 9, 0, 0, CLF_F32, LAYOUT_CONTIGUOUS},
        {CLF_SEARCH_COSINE, UNIFORM, 2, 65, 24, 65, 17, 0, CLF_F16, LAYOUT_CONTIGUOUS},
        {CLF_SEARCH_COSINE, UNIFORM, 2, 40, 5, 6, 0, 11, CLF_BF16, LAYOUT_CONTIGUOUS},
        {CLF_SEARCH_COSINE, INTEGERS, 4, 64, 1, 64, 0, 0, CLF_F32, LAYOUT_CONTIGUOUS}, /* cosines of -1, 0 (zero vectors) and 1 alone */
        {CLF_SEARCH_DOT, INTEGERS, 0, 9, 2, 3, 0, 0, CLF_F32, LAYOUT_CONTIGUOUS},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        run_alone(*state, &cases[i]);
    for (layout l = 0; l < LAYOUT_COUNT; l++)
        for (int metric = 0; metric < CLF_SEARCH_METRIC_COUNT; metric++)
            run_alone(*state, &(search_case){(clf_search_metric)metric, UNIFORM, 2, 21, 6, 4, 8, 0, CLF_F32, l});
}

/* More than selection takes, and blocks and queries beyond the work memory's. */
static void test_many(void **state)
{
    static const search_case cases[] = {
        {CLF_SEARCH_DOT, INTEGERS, 2, 1500, 3, 1500, 0, 0, CLF_F32, LAYOUT_CONTIGUOUS},
        {CLF_SEARCH_DOT, INTEGERS, 2, 3001, 3, 1025, 1100, 0, CLF_F32, LAYOUT_CONTIGUOUS},
        {CLF_SEARCH_DOT, SPECIAL, 1, 2500, 2, 2500, 1200, 700, CLF_F32, LAYOUT_CONTIGUOUS},
        {CLF_SEARCH_COSINE, UNIFORM, 2, 2047, 8, 2000, 0, 0, CLF_F32, LAYOUT_CONTIGUOUS},
        {CLF_SEARCH_DOT, INTEGERS, 70, 70000, 3, 2, 0, 0, CLF_F32, LAYOUT_CONTIGUOUS},
        {CLF_SEARCH_DOT, INTEGERS, 60, 66000, 2, 3000, 0, 40000, CLF_F32, LAYOUT_CONTIGUOUS},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!only_small_cases() || i == 0)
            run_alone(*state, &cases[i]);
}

/* Rows that are one and the same tie in every block, and keep tying at 1. */
static void test_equal_rows(void **state)
{
    enum { ROWS = 90, WIDTH = 33, K = 30 };
    float q[WIDTH], rows[ROWS * WIDTH], got[K];
    int32_t places[K];
    clf_tensor *query, *all, *scores, *indices;
    clf_search_params params = CLF_SEARCH_PARAMS_INIT;
    rng r = {7};
    for (int c = 0; c < WIDTH; c++)
        q[c] = rng_uniform(&r, -1, 1);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < WIDTH; c++)
            rows[i * WIDTH + c] = i % 3 ? -q[c] : q[c] * (float)(1 + i);
    params.block_rows = 30;
    CHECK_OK(clf_tensor_create_from(*state, CLF_F32, 2, (int64_t[]){1, WIDTH}, q, &query));
    CHECK_OK(clf_tensor_create_from(*state, CLF_F32, 2, (int64_t[]){ROWS, WIDTH}, rows, &all));
    CHECK_OK(clf_tensor_create(*state, CLF_F32, 2, (int64_t[]){1, K}, &scores));
    CHECK_OK(clf_tensor_create(*state, CLF_I32, 2, (int64_t[]){1, K}, &indices));
    CHECK_OK(clf_search_rows(*state, query, all, K, &params, scores, indices));
    CHECK_OK(clf_tensor_read(scores, got, sizeof got));
    CHECK_OK(clf_tensor_read(indices, places, sizeof places));
    for (int j = 0; j < K; j++) {
        CHECK(places[j] % 3 == 0 && got[j] <= 1 && got[j] > 0.99999f, "place %d: row %d, %.9g", j, places[j], (double)got[j]);
        CHECK(j == 0 || got[j] < got[j - 1] || places[j] > places[j - 1], "place %d: row %d behind %d", j, places[j], places[j - 1]);
    }
    clf_tensor_destroy(indices);
    clf_tensor_destroy(scores);
    clf_tensor_destroy(all);
    clf_tensor_destroy(query);
}

static void test_refusals(void **state)
{
    clf_context *context = *state;
    const clf_status bad = CLF_INVALID_ARGUMENT;
    clf_search *search = NULL;
    clf_search_params params = CLF_SEARCH_PARAMS_INIT;
    operand q = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 4});
    operand r = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){5, 4});
    operand other = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){5, 3});
    operand scores = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 3});
    operand indices = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 3});
    operand gaps = operand_create(context, CLF_I32, LAYOUT_SLICED, 2, (int64_t[]){2, 3});
    operand flat = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, (int64_t[]){4});
    clf_tensor *s = scores.tensor, *i = indices.tensor;
    CHECK_FAILS(clf_search_rows(context, q.tensor, r.tensor, 6, NULL, s, i), bad, "k is 6, expected 1 to the 5 rows");
    CHECK_FAILS(clf_search_rows(context, q.tensor, r.tensor, 0, NULL, s, i), bad, "k is 0");
    CHECK_FAILS(clf_search_rows(context, q.tensor, other.tensor, 3, NULL, s, i), bad, "rows is [5,3], expected 4 columns");
    CHECK_FAILS(clf_search_rows(context, q.tensor, r.tensor, 2, NULL, s, i), bad, "scores is [2,3], expected [2,2]");
    CHECK_FAILS(clf_search_rows(context, q.tensor, r.tensor, 3, NULL, s, gaps.tensor), bad, "without gaps");
    CHECK_FAILS(clf_search_rows(context, q.tensor, r.tensor, 3, NULL, i, i), bad, "scores is int32, expected float32");
    CHECK_FAILS(clf_search_rows(context, flat.tensor, r.tensor, 3, NULL, s, i), bad, "queries");
    CHECK_FAILS(clf_search_rows(context, i, r.tensor, 3, NULL, s, i), bad, "queries is int32");
    CHECK_FAILS(clf_search_rows(context, q.tensor, NULL, 3, NULL, s, i), bad, "rows is NULL");
    params.metric = (clf_search_metric)7;
    CHECK_FAILS(clf_search_create(context, q.tensor, 3, &params, &search), bad, "metric 7");
    params.metric = CLF_SEARCH_DOT;
    params.block_rows = -1;
    CHECK_FAILS(clf_search_create(context, q.tensor, 3, &params, &search), bad, "block_rows -1");
    params.block_rows = 0;
    params.size = 0;
    CHECK_FAILS(clf_search_create(context, q.tensor, 3, &params, &search), bad, "size");
    CHECK_FAILS(clf_search_create(context, q.tensor, 0, NULL, &search), bad, "k is 0");
    CHECK_FAILS(clf_search_create(context, q.tensor, 3, NULL, NULL), bad, "out is NULL");
    CHECK_OK(clf_search_create(context, q.tensor, 9, NULL, &search));
    CHECK_FAILS(clf_search_best(search, s, i), bad, "no row was added");
    CHECK_FAILS(clf_search_add(search, other.tensor), bad, "expected 4 columns");
    CHECK_OK(clf_search_add(search, r.tensor));
    CHECK_FAILS(clf_search_best(search, s, i), bad, "scores is [2,3], expected [2,5]");
    CHECK_FAILS(clf_search_add(NULL, r.tensor), bad, "search is NULL");
    CHECK(clf_search_row_count(NULL) == 0, "rows of NULL");
    clf_search_destroy(search);
    clf_search_destroy(NULL);
    operand_destroy(&flat);
    operand_destroy(&gaps);
    operand_destroy(&indices);
    operand_destroy(&scores);
    operand_destroy(&other);
    operand_destroy(&r);
    operand_destroy(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_equal_rows),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
