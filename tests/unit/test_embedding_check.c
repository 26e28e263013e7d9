/* SPDX-License-Identifier: MIT */
/* Embeddings that verification takes and refuses: wrong elements, signs, lengths, NaN. */
#include "support/check.h"
#include "workload/embedding_check.h"
#include "workload/verdict.h"

enum { WIDTH = 4 };

static clfi_verdict verdict_of(bool normalizes, const float row[WIDTH], const double want[WIDTH], double bound)
{
    clfi_verdict verdict = CLFI_VERDICT_INIT;
    clfi_embedding_check(WIDTH, normalizes, row, want, bound, &verdict);
    return verdict;
}

static void test_normal(void **state)
{
    static const double want[WIDTH] = {0.5, -0.5, 0.5, 0.5};
    static const float same[WIDTH] = {0.5f, -0.5f, 0.5f, 0.5f}, other[WIDTH] = {-0.5f, 0.5f, -0.5f, -0.5f};
    static const float off[WIDTH] = {0.5f, -0.5f, 0.5f, 0.51f}, longer[WIDTH] = {1, -1, 1, 1}, broken[WIDTH] = {0.5f, NAN, 0.5f, 0.5f};
    (void)state;
    const clfi_verdict verdict = verdict_of(true, same, want, 1e-6);
    assert_true(verdict.passed && verdict.error == 0 && verdict.bound > 0 && within(verdict.cosine, 1, 1e-15));
    assert_false(verdict_of(true, other, want, 1e-6).passed);
    assert_true(within(verdict_of(true, other, want, 1e-6).cosine, -1, 1e-15));
    assert_false(verdict_of(true, off, want, 1e-6).passed);
    assert_false(verdict_of(true, longer, want, 1e-6).passed);
    const clfi_verdict of_nan = verdict_of(true, broken, want, 1e-6);
    assert_true(!of_nan.passed && isnan(of_nan.error) && isnan(of_nan.cosine));
}

/* A model that does not normalise: lengths count, and errors are told in units of a row of norm 1. */
static void test_lengths(void **state)
{
    static const double want[WIDTH] = {5, -5, 5, 5};
    static const float same[WIDTH] = {5, -5, 5, 5}, longer[WIDTH] = {15, -15, 15, 15}, off[WIDTH] = {5, -5, 5, 5.5f};
    (void)state;
    assert_true(verdict_of(false, same, want, 1e-5).passed);
    assert_false(verdict_of(false, longer, want, 1e-5).passed);
    const clfi_verdict verdict = verdict_of(false, off, want, 1);
    assert_true(verdict.passed && within(verdict.error, 0.05, 1e-9) && within(verdict.bound, 0.1, 1e-9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_normal), cmocka_unit_test(test_lengths)};
    return cmocka_run_group_tests_name("unit.embedding_check", tests, NULL, NULL);
}
