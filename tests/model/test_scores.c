/* SPDX-License-Identifier: MIT */
/* Scores of more queries and rows than one block holds, against the host. */
#include "jobs/scores.h"

#include <stdlib.h>

#include "support/check.h"
#include "support/device.h"
#include "support/rng.h"

enum { WIDTH = 4, QUERIES = 70, ROWS = 65536 + 10 };

static float *random_rows(uint64_t seed, size_t count)
{
    rng r = {seed};
    float *rows = calloc(count * WIDTH, sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < count * WIDTH; i++)
        rows[i] = rng_uniform(&r, -1, 1);
    return rows;
}

static double dot(const float *a, const float *b)
{
    double sum = 0;
    for (int c = 0; c < WIDTH; c++)
        sum += (double)a[c] * (double)b[c];
    return sum;
}

/* The best row of each query lies in the last block, another for each ten; the second best is the best of the others. */
static void test_top(void **state)
{
    enum { K = 2 };
    float *queries = random_rows(1, QUERIES), *rows = random_rows(2, ROWS);
    static float values[QUERIES * K];
    static int64_t indices[QUERIES * K];
    for (size_t q = 0; q < QUERIES; q++) {
        queries[q * WIDTH] = q % 2 ? 1 : -1;
        for (int c = 1; c < WIDTH; c++)
            queries[q * WIDTH + (size_t)c] *= 0.1f;
    }
    rows[(size_t)(ROWS - 3) * WIDTH] = 10;
    rows[(size_t)(ROWS - 7) * WIDTH] = -10;
    CHECK_OK(cli_score_top(*state, CLF_SIMILARITY_DOT, queries, QUERIES, rows, ROWS, WIDTH, K, values, indices));
    for (size_t q = 0; q < QUERIES; q++) {
        double best[K] = {-INFINITY, -INFINITY};
        for (size_t i = 0; i < ROWS; i++) {
            const double score = dot(queries + q * WIDTH, rows + i * WIDTH);
            best[1] = score > best[0] ? best[0] : fmax(best[1], score);
            best[0] = fmax(best[0], score);
        }
        CHECK(indices[q * K] == (q % 2 ? ROWS - 3 : ROWS - 7), "query %zu: the best is row %lld", q, (long long)indices[q * K]);
        for (size_t i = 0; i < K; i++) {
            const size_t at = q * K + i;
            CHECK(within(values[at], best[i], 1e-5), "query %zu place %zu: %.9g, want %.9g", q, i, (double)values[at], best[i]);
            CHECK(within(dot(queries + q * WIDTH, rows + indices[at] * WIDTH), best[i], 1e-5), "query %zu place %zu: row %lld", q, i,
                  (long long)indices[at]);
        }
    }
    free(rows);
    free(queries);
}

static void test_matrix(void **state)
{
    static float got[QUERIES * QUERIES];
    float *a = random_rows(3, QUERIES), *b = random_rows(4, QUERIES);
    for (int is_cosine = 0; is_cosine < 2; is_cosine++) {
        CHECK_OK(cli_score_matrix(*state, is_cosine ? CLF_SIMILARITY_COSINE : CLF_SIMILARITY_DOT, a, QUERIES, b, QUERIES, WIDTH, got));
        for (size_t i = 0; i < QUERIES; i++) {
            for (size_t j = 0; j < QUERIES; j++) {
                const float *x = a + i * WIDTH, *y = b + j * WIDTH;
                const double want = dot(x, y) / (is_cosine ? sqrt(dot(x, x) * dot(y, y)) : 1);
                CHECK(within(got[i * QUERIES + j], want, 1e-5), "cosine=%d [%zu,%zu]: %.9g, want %.9g", is_cosine, i, j,
                      (double)got[i * QUERIES + j], want);
            }
        }
    }
    free(b);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_top), cmocka_unit_test(test_matrix)};
    return cmocka_run_group_tests_name("model.scores", tests, device_setup, device_teardown);
}
